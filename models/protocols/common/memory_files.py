"""Files for a real log under exploration: they are in memory, and what was written is forced a step later."""

from pathlib import Path

from tidemark.impl.ports import Preemption


class MemoryFiles:
    """Files whose content is there at once, and forced a step later. What a power failure may do to a log is
    judged with the stores.

    Attributes:
        forced: what a power failure would leave of each file.
    """

    def __init__(self, process: Preemption) -> None:
        self._process = process
        self.content: dict[Path, bytes] = {}
        self.forced: dict[Path, bytes] = {}

    async def exists(self, path: Path) -> bool:
        """See Files."""
        return path in self.content

    async def read(self, path: Path, *, offset: int = 0) -> bytes:
        """See Files."""
        if path not in self.content:
            raise FileNotFoundError(path)
        return self.content[path][offset:]

    async def write(self, path: Path, data: bytes) -> None:
        """See Files."""
        self.content[path] = data

    async def append(self, path: Path, data: bytes) -> None:
        """See Files."""
        self.content[path] = self.content.get(path, b"") + data

    async def truncate(self, path: Path, size: int) -> None:
        """See Files."""
        self.content[path] = self.content[path][:size]

    async def sync(self, path: Path) -> None:
        """See Files."""
        content = self.content.get(path, b"")
        await self._process.point("log.sync")
        if not self.forced.get(path, b"").startswith(content):  # nobody has forced more meanwhile
            self.forced[path] = content

    async def rename(self, old: Path, new: Path) -> None:
        """See Files."""
        self.content[new] = self.content.pop(old)

    async def make_directory(self, path: Path) -> None:
        """See Files."""

    async def sync_directory(self, path: Path) -> None:
        """See Files."""

    def declared(self) -> tuple[tuple[tuple[Path, bytes], ...], ...]:
        """The files as they are, and as they are forced."""
        return (tuple(sorted(self.content.items())), tuple(sorted(self.forced.items())))
