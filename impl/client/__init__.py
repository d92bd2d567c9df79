"""What a client keeps between its calls."""
