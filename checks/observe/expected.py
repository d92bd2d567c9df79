"""What the real server is expected to violate: ``expected.toml`` beside this file, compared exactly."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from tidemark.checks.verdicts.errors import BadInputError, known_names

FILE = Path(__file__).with_name("expected.toml")


class Case(BaseModel):
    """The expectation of the runs of one scenario on one version, or of those with a non-zero count ``when``.

    ``refuted`` and ``may`` hold names ``PROPERTY/MONITOR``.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    server: str
    scenario: str
    when: str = ""
    refuted: tuple[str, ...] = ()
    may: tuple[str, ...] = ()
    why: str = Field(min_length=1)


class _Manifest(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    case: tuple[Case, ...]


def read_cases(file: Path = FILE) -> tuple[Case, ...]:
    """All cases; raise BadInputError if the file is no manifest, or two cases speak about the same runs."""
    try:
        found = _Manifest.model_validate(tomllib.loads(file.read_text()))
    except (tomllib.TOMLDecodeError, ValidationError) as error:
        raise BadInputError(f"{file}: {error}", remedy="compare it with the one of the repository") from error
    names = [(each.server, each.scenario, each.when) for each in found.case]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise BadInputError(f"{file}: two cases for {twice[0]}", remedy="keep one of them")
    for each in found.case:
        both = set(each.refuted) & set(each.may)
        if both:
            raise BadInputError(f"{file}: {min(both)} is in refuted and in may", remedy="keep one")
    return found.case


def cases_of(server: str, scenario: str, *, cases: Iterable[Case] | None = None) -> list[Case]:
    """The cases of a scenario on a version; raise BadInputError if none is pinned."""
    known = read_cases() if cases is None else tuple(cases)
    found = [each for each in known if (each.server, each.scenario) == (server, scenario)]
    if not any(not each.when for each in found):
        pinned = [f"{each.scenario} on {each.server}" for each in known]
        raise BadInputError(
            f"no expectation is pinned for {scenario} on {server}",
            remedy=f"{known_names(f'{scenario} on {server}', pinned)}; or only collect:  --collect",
        )
    return found


def choose(cases: Iterable[Case], facts: Mapping[str, int]) -> Case:
    """The case of a run whose counts are known; raise BadInputError if several fit."""
    fitting = [each for each in cases if not each.when or facts.get(each.when, 0) > 0]
    special = [each for each in fitting if each.when]
    if len(special) > 1:
        raise BadInputError(
            f"the cases {', '.join(each.when for each in special)} fit this run together",
            remedy="let their conditions exclude each other",
        )
    return (special or fitting)[0]


def due(case: Case, refuted: Iterable[str]) -> frozenset[str]:
    """The names that must be refuted, given those that were: what is left open follows what came out."""
    return frozenset(case.refuted) | (frozenset(case.may) & frozenset(refuted))


def unjudged(case: Case, judged: Iterable[str]) -> list[str]:
    """Names that must be refuted and have no verdict at all."""
    return sorted(frozenset(case.refuted) - frozenset(judged))
