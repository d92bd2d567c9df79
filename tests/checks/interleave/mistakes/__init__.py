"""Whose mistake it is: the user's text, the implementation, or what the program says of itself."""
