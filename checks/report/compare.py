"""Two runs of the gate beside each other: which verdicts are gone, new, or say something else."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tidemark.checks.verdicts.errors import BadInputError


@dataclass(frozen=True, order=True)
class Place:
    """What a verdict is about."""

    protocol: str
    judge: str
    instance: str
    claim: str
    aspect: str

    def text(self) -> str:
        """For people."""
        return f"{self.judge}/{self.instance} {self.claim}"


Facts = Mapping[str, Any]
"""What is compared: outcome, expected outcome, and each count."""


@dataclass(frozen=True)
class Comparison:
    """The verdicts of two runs by place; times, words and counterexamples are not compared."""

    before: Mapping[Place, Facts]
    after: Mapping[Place, Facts]

    @property
    def gone(self) -> list[Place]:
        """Verdicts that the later run does not have."""
        return sorted(self.before.keys() - self.after.keys())

    @property
    def new(self) -> list[Place]:
        """Verdicts that the earlier run does not have."""
        return sorted(self.after.keys() - self.before.keys())

    @property
    def changed(self) -> list[Place]:
        """Verdicts with another outcome or other counts."""
        both = self.before.keys() & self.after.keys()
        return sorted(place for place in both if self.before[place] != self.after[place])

    def lines(self) -> Iterator[str]:
        """The whole as text: a line a protocol, then each difference."""
        gone, new, changed = (
            Counter(place.protocol for place in places) for places in (self.gone, self.new, self.changed)
        )
        for name in sorted({place.protocol for place in (*self.before, *self.after)}):
            known = sum(place.protocol == name for place in self.before)
            differ = f"{gone[name]} gone, {changed[name]} changed, {new[name]} new"
            yield f"{name}: {known} verdicts before, {differ}"
        for place in self.gone:
            yield f"gone     {place.text()}: {self.before[place]['outcome']}"
        for place in self.changed:
            yield f"changed  {place.text()}: {', '.join(self._differences(place))}"

    def _differences(self, place: Place) -> Iterator[str]:
        before, after = self.before[place], self.after[place]
        for name in sorted({*before, *after}):
            if before.get(name) != after.get(name):
                yield f"{name} {before.get(name, 'none')} -> {after.get(name, 'none')}"


def compare(before: Path, after: Path) -> Comparison:
    """Compare two files ``verdicts.json``. Raises BadInputError for a file that is none."""
    return Comparison(_verdicts(before), _verdicts(after))


def _verdicts(path: Path) -> dict[Place, Facts]:
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
        found = {_place(item): _facts(item) for item in document["judgements"]}
    except OSError as error:
        raise BadInputError(
            f"{path.as_posix()}: {error.strerror}", remedy="name two files verdicts.json of finished runs"
        ) from error
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise BadInputError(
            f"{path.as_posix()} is no file of verdicts ({type(error).__name__}: {error})",
            remedy="name two files verdicts.json; tidemark verify writes one into the build folder",
        ) from error
    if not found:
        raise BadInputError(f"{path.as_posix()} has no verdict", remedy="name the file of a finished run")
    return found


def _place(item: Mapping[str, Any]) -> Place:
    return Place(item["protocol"], item["judge"], item["instance"], item["property_id"], item["aspect"])


def _facts(item: Mapping[str, Any]) -> Facts:
    return {"outcome": item["outcome"], "expected": item["expected"], **item["counts"]}
