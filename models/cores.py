"""How many cores there are, and how processes for them start."""

import os
import sys

METHOD = "fork" if sys.platform == "linux" else "spawn"
"""How the first processes start. Later ones are spawned: by then the parent may have threads."""


def cores() -> int:
    """Cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
