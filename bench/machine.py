"""The machine in words: without it a number means nothing."""

from __future__ import annotations

import os
import platform
from typing import Any

import psutil


def machine() -> dict[str, Any]:
    """Cores, memory, processor, system, Python. Numbers of different machines must not be compared."""
    return {
        "cores": os.cpu_count() or 1,
        "memory_gib": round(psutil.virtual_memory().total / 2**30),
        "processor": _processor(),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
    }


def _processor() -> str:
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:  # noqa: PTH123  a file of the kernel, not of a tree
            names = [line.partition(":")[2].strip() for line in file if line.startswith("model name")]
    except OSError:
        names = []
    return names[0] if names else platform.processor() or "unknown"


def load() -> float:
    """Processes that wanted a core in the last minute, on average; 0 where the system does not say."""
    return os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0
