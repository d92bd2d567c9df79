"""A copy of the project in which one action of a protocol is changed: the gate has something to do."""

from __future__ import annotations

import re
import shutil
from collections.abc import Mapping
from pathlib import Path

from tidemark.models.rooms import PACKAGE, ROOMS, ROOT

_LEFT_OUT = shutil.ignore_patterns(".*", "build", "__pycache__", "*.egg-info", "tests")
_METHOD = re.compile(r"^    def (\w+)\(", re.MULTILINE)
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


def change_an_action(clone: Path, protocol: str) -> str:
    """Say the first guard of an action twice: another text and another tree, with the same meaning.

    An action of which a manifest names generated mutants is left alone: these are numbered by its guards.

    Returns:
        The action.

    Raises:
        ValueError: no action has a guard of one line.
    """
    manifests = (clone / "models" / "protocols" / protocol).rglob("*.toml")
    named = "\n".join(file.read_text(encoding="utf-8") for file in manifests)
    path = clone / "spec" / protocol / "actions.py"
    text = path.read_text(encoding="utf-8")
    for found in _GUARD.finditer(text):
        action = _METHOD.findall(text, 0, found.start())[-1]
        if f'"{action}/' not in named:
            path.write_text(text[: found.end()] + found.group() + text[found.end() :], encoding="utf-8")
            return str(action)
    raise ValueError(f"{path.name} of {protocol} has no guard of one line that may be said twice")
