"""Where the real server and its clients are: what ``make milvus`` put beside the Python environment."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

from tidemark.checks.errors import BadInputError, MissingToolError, known_names

DEFAULT_VERSION = "2.3.5"
_INSIDE = Path(__file__).parent


@dataclass(frozen=True, kw_only=True)
class Package:
    """One version of the server, unpacked, and the Python that has the clients."""

    version: str
    folder: Path
    python: Path

    @property
    def program(self) -> Path:
        """The server."""
        return self.folder / "bin" / "milvus"

    def inside(self, module: str, *arguments: str) -> list[str]:
        """The command of a program of ``checks/observe/inside``, run by the private Python."""
        # -I keeps the user's settings and the current folder out; so the path is set by hand.
        start = f"import sys, runpy; sys.path.insert(0, {str(_INSIDE)!r}); runpy.run_module('inside.{module}', run_name='__main__')"
        return [str(self.python), "-I", "-c", start, *arguments]


def place() -> Path:
    """The folder that ``make milvus`` fills."""
    return Path(sys.prefix) / "milvus"


def find_package(version: str = DEFAULT_VERSION, *, within: Path | None = None) -> Package:
    """The package of that version; raise MissingToolError if it was not fetched."""
    folder = within or place()
    python = folder / "clients" / "bin" / "python"
    ready = {path.parent.name for path in folder.glob("*/.ready")}
    versions = ready - {"clients"}
    if "/" in version or version.startswith("."):
        raise BadInputError(f"{version!r} is no version of the server", remedy=known_names(version, versions))
    if version not in versions or "clients" not in ready or not python.exists():
        raise MissingToolError(
            f"the server Milvus {version} is not there (looked in {folder}; there: {', '.join(sorted(ready)) or 'nothing'})",
            remedy=f"make milvus VERSION={version}   (it says why where it cannot be had)",
        )
    return Package(version=version, folder=folder / version, python=python)
