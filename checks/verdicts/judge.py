"""What a judge is: a function from one manifest entry to verdicts.

``verify`` looks judges up by name in a registry, so that the gate knows nothing about any of them.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from tidemark.checks.verdicts.progress import Progress, silent
from tidemark.checks.verdicts.reuse import Reuse
from tidemark.checks.verdicts.verdict import Aspect, Subject, Verdict
from tidemark.models.manifest import AnyEntry, Kind, Manifest


@dataclass(frozen=True, kw_only=True)
class Context:
    """What a judge may need beside its entry."""

    manifest: Manifest
    progress: Progress = silent
    seed: int = 0
    master: str = "local[*]"
    """Spark master."""
    workers: int | None = None
    """Threads of a native search, and processes of a proof; all cores if None."""
    memory: int | None = None
    """Bytes that a native search may take; a share of what is free if None."""
    build: Path = field(default_factory=lambda: Path("build"))
    """Folder for files that can be made again."""
    reuse: Reuse | None = None
    """What the judge may take over of its earlier work; nothing if None."""

    def subject(
        self, entry: AnyEntry, judge: str, property_id: str, aspect: Aspect = Aspect.PROPERTY
    ) -> Subject:
        """The subject of a verdict on ``entry``."""
        return Subject(
            protocol=self.manifest.name,
            property_id=property_id,
            judge=judge,
            instance=entry.name,
            aspect=aspect,
        )


class Judge(Protocol):
    """A judge by name. ``kinds`` are the kinds of property that it can decide."""

    @property
    def name(self) -> str:
        """The name in verdicts and on the command line."""

    @property
    def kinds(self) -> frozenset[Kind]:
        """Kinds of pinned property which it must answer for an instance or a proof."""

    def run(self, entry: AnyEntry, context: Context) -> list[Verdict]:
        """Judge one entry.

        Returns one verdict per claim of the entry (a missing or an additional one fails the gate), and
        may add verdicts of the aspects vacuity and pin. Raises MissingToolError if it cannot run here.
        """


Registry = Mapping[str, Judge]
