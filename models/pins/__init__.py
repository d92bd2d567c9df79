"""What claims and steps say, as digests and as text, to be compared with what was reviewed."""
