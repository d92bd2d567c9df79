"""What the user chose for a run."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from tidemark.checks.verdicts.commands import Invocation
from tidemark.checks.verdicts.reuse import Reuse


@dataclass(frozen=True, kw_only=True)
class Settings:
    """What the user chose for a run."""

    tier: str = "fast"
    seed: int = 0
    master: str = "local[*]"
    build: Path = Path("build")
    jobs: int = 1
    """Processes that judge; with one, everything runs in the calling process."""
    workers: int | None = None
    """Threads of a native search; None leaves the choice to the gate."""
    memory: int | None = None
    """Bytes that a native search may take; None leaves the choice to the gate."""
    words: tuple[str, ...] = ()
    """The command line as it was given, without the program."""
    json: bool = False
    """Write the verdicts to the standard output as JSON, and all else to the error stream."""
    manifests: tuple[Path, ...] = ()
    """Manifest files as they were given; none for those of the project."""

    reuse: Mapping[str, Reuse] = field(default_factory=dict)
    """What judges may take over below their verdicts, by the judge's name."""

    @property
    def invocation(self) -> Invocation:
        """What a printed command has to repeat of this run."""
        return Invocation(
            words=self.words, manifests=self.manifests, build=self.build, seed=self.seed, master=self.master
        )
