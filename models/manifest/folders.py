"""Where the modules that a manifest names are found: in its folder, and at the root of its project.

Processes that are started later (judges, Java, the Python workers of Spark) find them there too.
"""

import os
import sys
from pathlib import Path

from tidemark.models.rooms import PROTOCOLS

ROOT_FILE = "pyproject.toml"
"""The file that marks the root of a project."""

_added: dict[str, None] = {}


def make_importable(manifest: Path) -> None:
    """Let the modules beside a manifest file be imported, and those at the root of its project.

    Those of the suite's own protocols have the name of the package before theirs: a second name would give
    each class twice.
    """
    folder = manifest.resolve().parent
    if folder.is_relative_to(PROTOCOLS):
        return
    root = next((place for place in (folder, *folder.parents) if (place / ROOT_FILE).is_file()), folder)
    for place in map(str, dict.fromkeys((root, folder))):
        if place in _added:
            continue
        _added[place] = None
        if place not in sys.path:
            sys.path.insert(0, place)
        known = [one for one in os.environ.get("PYTHONPATH", "").split(os.pathsep) if one]
        if place not in known:
            os.environ["PYTHONPATH"] = os.pathsep.join([*known, place])


def importable() -> tuple[str, ...]:
    """The folders that were added."""
    return tuple(_added)
