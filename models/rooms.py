"""Where the project's own code lies: in a clone, and where it is installed."""

from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
"""The folder of the rooms: the clone, or ``tidemark`` among the installed packages."""

ROOMS = ("spec", "impl", "models", "checks")
"""The rooms that a verdict may depend on, each a subpackage of ``tidemark``."""

PACKAGE = "tidemark"

PROTOCOLS = ROOT / "models" / "protocols"
"""The suite's own protocols, each in a folder with its manifest. There is none without `tidemark-milvus`."""

INSTALL_PROTOCOLS = "install the wheel tidemark_milvus of this version, which  make wheels  in a clone builds"
"""What to do where the suite's own protocols are not installed."""


def files(*, suffixes: frozenset[str]) -> Iterator[Path]:
    """The rooms' files with one of these suffixes, in a fixed order."""
    for room in ROOMS:
        yield from sorted(path for path in (ROOT / room).rglob("*") if path.suffix in suffixes)


def protocol_files(name: str) -> tuple[Path, ...]:
    """The files of this name in the folders of the protocols, by protocol."""
    return tuple(sorted(PROTOCOLS.glob(f"*/{name}")))
