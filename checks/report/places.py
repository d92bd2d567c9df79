"""The table of the mutants that rules make from the implementation, from what the manifests pin.

A sample says little about its files; an entry that tries all of them does. What is pinned is judged by the
gate's full tier.
"""

from collections.abc import Sequence
from typing import NamedTuple

from tidemark.models.manifest.model import ImplementationMutants, Manifest, MeasuredMutants
from tidemark.models.mutation.source.mutants import mutants_of
from tidemark.models.rooms import ROOT

HEAD = (
    "files of `impl/`", "entry", "made", "equivalent", "killed", "otherwise seen", "not seen", "share",
    "by", "seconds",
)  # fmt: skip
UNMEASURED = ("-", "-")
"""The last cells of a row whose entry says nothing of what was measured."""
OTHERWISE = ("by_count", "by_refusal", "endless")
"""Fates of mutants that show as a count, a refusal or a step without an end, and refute no claim."""


class Place(NamedTuple):
    """One entry that tries every mutant of its files."""

    files: tuple[str, ...]
    entry: str
    made: int
    equivalent: int
    killed: int
    otherwise: int
    measured: MeasuredMutants | None = None

    @property
    def not_seen(self) -> int:
        """What survives, is run by no program, or is not decided."""
        return self.made - self.equivalent - self.killed - self.otherwise

    @property
    def share(self) -> float:
        """Killed by a claim, of those that are not equivalent."""
        return self.killed / max(1, self.made - self.equivalent)

    def cells(self) -> tuple[str, ...]:
        """The row as it is printed."""
        numbers = (self.made, self.equivalent, self.killed, self.otherwise, self.not_seen)
        known = UNMEASURED if self.measured is None else _cells(self.measured)
        return (_by_room(self.files), f"`{self.entry}`", *map(str, numbers), f"{self.share:.1%}", *known)


def _cells(measured: MeasuredMutants) -> tuple[str, str]:
    judges = ", ".join(f"{judge} {number}" for judge, number in measured.judges.items())
    return (judges, f"{measured.median:.2f} / {measured.longest:.2f}")


def places(manifests: Sequence[Manifest]) -> list[Place]:
    """The entries that try all mutants of their files, in the order of the files."""
    entries = {entry.name: entry for one in manifests for entry in one.implementation}
    found = [_place(entry, entries) for entry in entries.values() if entry.sample is None]
    return sorted(found, key=lambda place: (place.files, place.entry))


def _place(entry: ImplementationMutants, entries: dict[str, ImplementationMutants]) -> Place:
    files = entries[entry.of].files if entry.of is not None else entry.files
    counts = entry.counts
    return Place(
        tuple(sorted(files)),
        entry.name,
        entry.total,
        counts.get("equivalent", 0),
        counts.get("killed", 0),
        sum(counts.get(fate, 0) for fate in OTHERWISE),
        entry.measured,
    )


def left_out(manifests: Sequence[Manifest]) -> dict[str, int]:
    """The files of the implementation that no entry tries, with how many mutants rules make of each."""
    folder = ROOT / "impl"
    tried = {file for place in places(manifests) for file in place.files}
    every = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*.py"))
    made = {file: len(mutants_of(folder, file)) for file in every if file not in tried}
    return {file: number for file, number in made.items() if number}


def places_text(manifests: Sequence[Manifest]) -> str:
    """The table in Markdown, and what is in no row of it."""
    rule = ("---", "---", *["---:"] * (len(HEAD) - 2))
    lines = [HEAD, rule, *(place.cells() for place in places(manifests))]
    table = "\n".join(f"| {' | '.join(line)} |" for line in lines)
    rest = left_out(manifests)
    numbers = [f"{file.removesuffix('.py')} {number}" for file, number in rest.items()]
    return f"{table}\n\nIn no entry ({sum(rest.values())} mutants): {_by_room(numbers)}."


def _by_room(files: Sequence[str]) -> str:
    """Files without their endings, the room once."""
    rooms: dict[str, list[str]] = {}
    for file in files:
        room, _, name = file.removesuffix(".py").rpartition("/")
        rooms.setdefault(room, []).append(name)
    return "; ".join(f"{room + ': ' if room else ''}{', '.join(names)}" for room, names in rooms.items())
