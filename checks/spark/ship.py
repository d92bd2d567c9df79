"""How executors get this project's code: by path on this machine, as a zip elsewhere."""

from __future__ import annotations

import hashlib
import os
import tempfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
"""The folder that holds the rooms."""

ROOMS = ("spec", "impl", "models", "checks")


SUFFIXES = frozenset({".py", ".toml", ".json", ".j2"})
"""Code, and the data files that code reads."""


def code_zip(*, folder: Path) -> Path:
    """A zip of the rooms' files below ``folder``, named by its content.

    The same code gives the same bytes: entries are sorted and their times are fixed, so that a zip can be
    recognised, and an old one is never taken for the present code.
    """
    sources = sorted(path for room in ROOMS for path in (ROOT / room).rglob("*.py"))
    if not sources:
        raise FileNotFoundError(
            f"no Python files of {', '.join(ROOMS)} below {ROOT}: is the package complete?"
        )
    digest = hashlib.sha256()
    folder.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=folder, suffix=".partial")
    with os.fdopen(handle, "wb") as file, zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sources:
            relative = path.relative_to(ROOT).as_posix()
            content = path.read_bytes()
            digest.update(f"{relative}\0{len(content)}\0".encode() + content)
            archive.writestr(zipfile.ZipInfo(relative, date_time=(1980, 1, 1, 0, 0, 0)), content)
    target = folder / f"tidemark-{digest.hexdigest()[:16]}.zip"
    Path(name).replace(target)
    return target
