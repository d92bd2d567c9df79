"""Judge of the parts of claims: a conjunct or a hypothesis that says nothing is found, and named.

A claim is as strong as it looks only if each of its parts matters. For each part there must be a run that
shows it: of a wrong protocol, if the claim is weaker without the part; of the protocol itself, if it is
stronger. What does not show within the searches is idle, and is listed with a reason, or the claim is red.
The same is asked of what a liveness claim assumes (``liveness.py``), and of each lemma (``lemmas.py``).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from tidemark.checks.strength.parts import Part
from tidemark.checks.strength.trials import KINDS, LemmaTrials, LivenessTrials, Trials
from tidemark.checks.verdicts.commands import check_command
from tidemark.checks.verdicts.errors import BadInputError
from tidemark.checks.verdicts.judge import Context
from tidemark.checks.verdicts.verdict import Aspect, Subject, Verdict, holds, refuted
from tidemark.models.instance import Instance
from tidemark.models.manifest import AnyEntry, InstanceEntry, Kind, Manifest, StrengthEntry, instance_of
from tidemark.models.mutation.generated import mutants_of, mutated
from tidemark.spec.language.protocol import resolve
from tidemark.spec.language.spec import Property


class StrengthJudge:
    """Judges ``[strength.NAME]`` entries."""

    name = "strength"
    kinds: frozenset[Kind] = frozenset(map(Kind, KINDS))

    def run(self, entry: AnyEntry, context: Context) -> list[Verdict]:
        """A verdict for each claim that is looked at: are its idle parts those that are listed?"""
        if not isinstance(entry, StrengthEntry):
            raise BadInputError(f"{entry.name!r} is no [strength.NAME] entry", remedy="name one")
        spec = resolve(entry.protocol).trace()
        asked = [
            prop
            for prop in spec.properties
            if prop.kind in entry.kinds and prop.id in (entry.claims or (prop.id,))
        ]
        trials = _trials(entry, asked, context.manifest)
        unknown = sorted({*entry.idle} - {*trials.parts})
        if unknown:
            known = ", ".join(trials.parts) or "none"
            raise BadInputError(
                f"{entry.name}: {unknown[0]!r} is listed as idle and is no part of a claim",
                remedy=f"remove it, or name one of: {known}",
            )
        for place, what in enumerate(trials.searches()):
            seen = f"{len(trials.seen)} of {len(trials.parts)} parts seen"
            context.progress(place + 1, unit="searches", note=f"{what}; {seen}")
        replay = check_command(self.name, entry.name)
        return [
            _verdict(
                context.subject(entry, self.name, prop.id, Aspect.VACUITY),
                [part for part in trials.parts.values() if part.claim == prop.id],
                trials,
                entry,
                replay=replay,
            )
            for prop in asked
        ]


JUDGE = StrengthJudge()


class Looked(Protocol):
    """Parts, and the searches in which they may show."""

    @property
    def parts(self) -> Mapping[str, Part]:
        """By id."""

    @property
    def seen(self) -> Mapping[str, str]:
        """By the id of a part, what has shown it."""

    def searches(self) -> Iterator[str]:
        """Search; the name of each search."""


def _trials(entry: StrengthEntry, asked: Sequence[Property], manifest: Manifest) -> Looked:
    hosts = {host.name: host for host in manifest.instance}
    chosen = [hosts[name] for name in entry.instances]
    if entry.parts == "liveness":
        every = len(asked) == len(resolve(entry.protocol).trace().of_kind("leads_to"))
        ids = [prop.id for prop in asked]
        return LivenessTrials(ids, [_as(entry, host) for host in chosen], whole=every)
    if entry.parts == "lemmas":
        return LemmaTrials(asked, [_as(entry, host) for host in chosen])
    base = resolve(manifest.protocol).trace()
    trials = Trials({prop.id: prop for prop in asked}, {prop.id: prop for prop in base.properties})
    return _Claims(trials, entry, manifest)


def _as(entry: StrengthEntry, host: InstanceEntry) -> Instance:
    """The instance of a host, of the entry's own protocol."""
    return Instance(entry.protocol, host.bounds, host.constants, host.name)


@dataclass(frozen=True)
class _Claims:
    """The parts of invariants and transition invariants."""

    trials: Trials
    entry: StrengthEntry
    manifest: Manifest

    @property
    def parts(self) -> Mapping[str, Part]:
        return self.trials.parts

    @property
    def seen(self) -> Mapping[str, str]:
        return self.trials.seen

    def searches(self) -> Iterator[str]:
        return _try_all(self.trials, self.entry, self.manifest)


def _try_all(trials: Trials, entry: StrengthEntry, manifest: Manifest) -> Iterator[str]:
    """All searches that are needed, one at a time: the protocol itself, mutants by hand, mutants by rule. No
    mutant is tried for the sake of what is listed as idle.
    """
    hosts = {host.name: host for host in manifest.instance}
    for host in map(hosts.__getitem__, entry.instances):
        parts = trials.of(_holding(host, manifest), wrong=False)
        if trials.left(parts, listed=()):
            trials.try_on(instance_of(host), parts, states=None, what=host.name)
            yield host.name
    for mutant in manifest.mutant:
        if mutant.instance in hosts and mutant.killer is not None:
            host = hosts[mutant.instance]
            parts = trials.of(_holding(host, manifest), wrong=True)
            if any(part.claim == mutant.killer for part in trials.left(parts, listed=entry.idle)):
                wrong = Instance(mutant.ref, host.bounds, host.constants, host.name)
                trials.try_on(wrong, parts, states=entry.states, what=mutant.name)
                yield mutant.name
    for name, ids in entry.generated.items():
        instance = instance_of(hosts[name])
        parts = trials.of(_holding(hosts[name], manifest), wrong=True)
        every = (one.id for one in mutants_of(instance.protocol))
        for one in every if ids == ("*",) else ids:
            if not trials.left(parts, listed=entry.idle):
                break
            trials.try_on(mutated(instance, one), parts, states=entry.states, what=one)
            yield one


def _holding(host: InstanceEntry, manifest: Manifest) -> list[str]:
    """The claims that hold on an instance."""
    judged = manifest.claims_of(host, map(Kind, KINDS))
    return [claim for claim in judged if host.expect.of(claim).value == "holds"]


def _verdict(
    subject: Subject, parts: Sequence[Part], trials: Looked, entry: StrengthEntry, *, replay: str
) -> Verdict:
    idle = [part for part in parts if part.id not in trials.seen]
    new = [part for part in idle if part.id not in entry.idle]
    gone = [part for part in parts if part.id in trials.seen and part.id in entry.idle]
    counts = {"parts": max(1, len(parts))}
    mutants = f"; of each mutant {entry.states} states" if entry.parts == "claims" else ""
    bounds = f"{', '.join(entry.instances)}{mutants}"
    notes = tuple(f"{part.id} is idle: {entry.idle[part.id]}" for part in idle if part not in new)
    if not new and not gone:
        return holds(subject, counts=counts, bounds=bounds, notes=notes, replay=replay)
    return refuted(
        subject,
        counts=counts,
        counterexample=None,
        reason="; ".join([*map(_says, new), *(_shows(part, trials) for part in gone)]),
        bounds=bounds,
        replay=replay,
        notes=notes,
    )


def _says(part: Part) -> str:
    return f"{part.id} is idle, {part.place.idle_words}: {part.text}"


def _shows(part: Part, trials: Looked) -> str:
    return f"{part.id} is listed as idle, and {trials.seen[part.id]} shows it: {part.text}"
