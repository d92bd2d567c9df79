"""Questions about a protocol that need no manifest: what holds, what is proved, what a variant changes."""
