"""How we know: one question a file, and the command line."""

import time

BEGUN = time.time()
"""When this process began to load our code: before any other file of ours is read."""
