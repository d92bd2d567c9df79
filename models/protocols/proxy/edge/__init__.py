"""A proxy's two sides: what clients ask it for, and the session that it lives by."""
