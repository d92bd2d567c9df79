"""The same search by the plain interpreter."""
