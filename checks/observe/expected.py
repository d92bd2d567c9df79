"""What the real server is expected to violate: ``expected.toml`` beside this file, compared exactly."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from tidemark.checks.verdicts.errors import BadInputError, known_names

FILE = Path(__file__).with_name("expected.toml")


class Case(BaseModel):
    """The expectation of the runs of one scenario on one version.

    All names are ``PROPERTY/MONITOR``. ``refuted`` holds those that every run refutes. ``refuted_if`` holds,
    by a count of the run's record, those that a run refutes if that count is not zero. ``may`` holds those
    that come out one way or the other; one that is in ``refuted_if`` too is open while its count is zero.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    server: str
    scenario: str
    refuted: tuple[str, ...] = ()
    refuted_if: Mapping[str, tuple[str, ...]] = Field(default_factory=dict)
    may: tuple[str, ...] = ()
    why: str = Field(min_length=1)

    def demanded(self, facts: Mapping[str, int]) -> frozenset[str]:
        """The names that a run with these counts has to refute."""
        by_count = (names for count, names in self.refuted_if.items() if facts.get(count, 0) > 0)
        return frozenset(self.refuted).union(*by_count)

    def due(self, facts: Mapping[str, int], refuted: Iterable[str]) -> frozenset[str]:
        """The names that must be refuted, given those that were: what is left open follows what came out."""
        return self.demanded(facts) | (frozenset(self.may) & frozenset(refuted))


class _Manifest(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    case: tuple[Case, ...]


def read_cases(file: Path = FILE) -> tuple[Case, ...]:
    """All cases; raise BadInputError if the file is no manifest, or two cases speak about the same runs."""
    try:
        found = _Manifest.model_validate(tomllib.loads(file.read_text()))
    except (tomllib.TOMLDecodeError, ValidationError) as error:
        raise BadInputError(f"{file}: {error}", remedy="compare it with the one of the repository") from error
    names = [(each.server, each.scenario) for each in found.case]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise BadInputError(f"{file}: two cases for {twice[0]}", remedy="keep one of them")
    for each in found.case:
        both = set(each.refuted) & set(each.may)
        if both:
            raise BadInputError(f"{file}: {min(both)} is in refuted and in may", remedy="keep one")
    return found.case


def case_of(server: str, scenario: str, *, cases: Iterable[Case] | None = None) -> Case:
    """The case of a scenario on a version; raise BadInputError if none is pinned."""
    known = read_cases() if cases is None else tuple(cases)
    found = next((each for each in known if (each.server, each.scenario) == (server, scenario)), None)
    if found is None:
        pinned = [f"{each.scenario} on {each.server}" for each in known]
        raise BadInputError(
            f"no expectation is pinned for {scenario} on {server}",
            remedy=f"{known_names(f'{scenario} on {server}', pinned)}; or only collect:  --collect",
        )
    return found
