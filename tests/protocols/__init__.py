"""Small protocols with known state counts, and one with every feature of the language."""
