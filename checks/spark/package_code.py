"""How executors get this project's code: by path on this machine, as an archive elsewhere."""

import hashlib
import os
import tempfile
import zipfile
from pathlib import Path

from tidemark.models.rooms import PACKAGE, ROOMS, ROOT, files

_NO_TIME = (1980, 1, 1, 0, 0, 0)

SUFFIXES = frozenset({".py", ".toml", ".json", ".j2"})
"""Code, and the data files that code reads."""


def code_zip(*, folder: Path) -> Path:
    """A zip of the rooms' files below ``folder``, named by its content.

    The same code gives the same bytes: entries are sorted and their times are fixed, so that a zip can be
    recognised, and an old one is never taken for the present code.
    """
    sources = list(files(suffixes=SUFFIXES))
    if not any(path.suffix == ".py" for path in sources):
        raise FileNotFoundError(
            f"no Python files of {', '.join(ROOMS)} below {ROOT}: is the package complete?"
        )
    digest = hashlib.sha256()
    folder.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=folder, suffix=".partial")
    with os.fdopen(handle, "wb") as file, zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        # A package with a file of its own: it comes before an installed one, whatever the order of the paths.
        archive.writestr(zipfile.ZipInfo(f"{PACKAGE}/__init__.py", date_time=_NO_TIME), b"")
        for path in sources:
            relative = f"{PACKAGE}/{path.relative_to(ROOT).as_posix()}"
            content = path.read_bytes()
            digest.update(f"{relative}\0{len(content)}\0".encode() + content)
            archive.writestr(zipfile.ZipInfo(relative, date_time=_NO_TIME), content)
    target = folder / f"tidemark-{digest.hexdigest()[:16]}.zip"
    Path(name).chmod(0o644)  # executors may run as another user
    Path(name).replace(target)
    return target
