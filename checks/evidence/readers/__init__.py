"""One reader a kind of evidence: bytes of a file in, rows of the event table out."""
