"""A protocol as a compiled kernel over states packed in 64-bit words."""
