"""Small protocols for proofs: some true for any size, some not, some not inductive."""
