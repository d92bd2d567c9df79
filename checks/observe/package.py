"""Where the real server and its clients are: what ``make milvus`` put beside the Python environment.

The script behind it, ``checks/environment/milvus.sh``, unpacks with tidemark.checks.observe.inside.unpack .
"""

import sys
from dataclasses import dataclass
from pathlib import Path

from tidemark.checks.verdicts.errors import BadInputError, MissingToolError, known_names
from tidemark.models.rooms import ROOT

DEFAULT_VERSION = "2.3.5"
CLIENT = "tidemark.checks.observe.inside.client"
MESSAGES = "tidemark.checks.observe.inside.messages"
MOCK_BROKER = "tidemark.checks.observe.inside.mock_broker"
SLOW_DISK = "tidemark.checks.observe.inside.slow_disk"
_HERE = Path(__file__).parent


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
        """The command of a program of ``inside``, for the private Python, which has no ``tidemark``."""
        name = module.partition(".observe.")[2]
        # -I keeps the user's settings and the present folder out of the path, so ours is put there by hand.
        start = (
            f"import runpy, sys; sys.path.insert(0, {str(_HERE)!r}); "
            f"runpy.run_module({name!r}, run_name='__main__')"
        )
        return [str(self.python), "-I", "-B", "-c", start, *arguments]


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
        raise BadInputError(
            f"{version!r} is not a version of the server", remedy=known_names(version, versions)
        )
    if version not in versions or "clients" not in ready or not python.exists():
        raise MissingToolError(
            f"the server Milvus {version} is not in {folder}; there: {', '.join(sorted(ready)) or 'nothing'}",
            remedy=f"make milvus VERSION={version}   (it says why where it cannot be had)"
            if (ROOT / "Makefile").is_file()
            else f"run  make milvus VERSION={version}  in a clone of Tidemark, and observe from there",
        )
    return Package(version=version, folder=folder / version, python=python)
