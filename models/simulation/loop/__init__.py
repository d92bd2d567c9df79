"""The controlled event loop and its lanes."""
