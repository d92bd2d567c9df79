"""The parts together: proxy, coordinator and consumer in one program."""
