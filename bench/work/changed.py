"""A copy of the project in which one action of a protocol is changed: the gate has something to do."""

from __future__ import annotations

import re
import shutil
from collections.abc import Mapping
from pathlib import Path

from tidemark.models.rooms import PACKAGE, ROOMS, ROOT

_LEFT_OUT = shutil.ignore_patterns(".*", "build", "__pycache__", "*.egg-info", "tests")
_GUARD = re.compile(r"^        require\(.*\)\n", re.MULTILINE)


def copy_project(to: Path) -> Path:
    """Copy the clone to ``to``/clone, with a package of links beside it that is imported in place of ours."""
    clone = to / "clone"
    shutil.copytree(ROOT, clone, ignore=_LEFT_OUT)
    package = to / "package" / PACKAGE
    package.mkdir(parents=True)
    for room in (*ROOMS, "bench"):
        (package / room).symlink_to(clone / room)
    return clone


def environment(clone: Path) -> Mapping[str, str]:
    """Variables under which Python imports the copy."""
    return {"PYTHONPATH": str(clone.parent / "package")}


def change_an_action(clone: Path, protocol: str) -> None:
    """Say the first guard of the protocol twice: another text and another tree, with the same meaning.

    Raises ValueError if no action has a guard of one line.
    """
    path = clone / "spec" / protocol / "actions.py"
    text = path.read_text(encoding="utf-8")
    found = _GUARD.search(text)
    if found is None:
        raise ValueError(f"{path.name} of {protocol} has no guard of one line")
    path.write_text(text[: found.end()] + found.group() + text[found.end() :], encoding="utf-8")
