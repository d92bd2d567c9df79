"""What did the last save break? Judges what a change touches, as soon as a file is saved."""
