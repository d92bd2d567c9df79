"""Digests and texts of claims and steps, compared with the reviewed ones."""
