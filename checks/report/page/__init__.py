"""The parts of the HTML page of a run: what is a row, a failure, a link, a picture."""
