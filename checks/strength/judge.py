"""Judge of the parts of claims: a conjunct or a hypothesis that says nothing is found, and named.

A claim is as strong as it looks only if each of its parts matters. For each part there must be a run that
shows it: of a wrong protocol, if the claim is weaker without the part; of the protocol itself, if it is
stronger. What does not show within the searches is idle, and is listed with a reason, or the claim is red.
The same is asked of what a liveness claim assumes (``liveness.py``), and of each lemma (``lemmas.py``).

Runs in which the parts of claims show: of the protocol itself, and of wrong ones.

Does a proof need each of its lemmas?

A lemma matters if the induction fails without it, all other lemmas being there: on an instance that is named,
by the solver, over all states and not only reachable ones. An induction that fails there fails for any size.
A lemma without which it succeeds may still be needed in larger instances; ``tidemark suggest --redundant``
decides that, and the reason with which the lemma is listed says so.

Does each assumption of a liveness claim matter?

A hypothesis of a leads_to, or an alternative of what it promises, matters if some fair run breaks the claim
without it. The fairness of an action matters if without it some liveness claim is broken. Each is asked of
the graphs of the instances that are named: one search, and a search for lassos for each part.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from tidemark.checks.explore.liveness import LivenessChecker
from tidemark.checks.strength.parts import Part, Place, liveness_parts_of, parts_of
from tidemark.checks.verdicts.commands import check_command
from tidemark.checks.verdicts.errors import BadInputError
from tidemark.checks.verdicts.judge import Context
from tidemark.checks.verdicts.verdict import Aspect, Subject, Verdict, holds, refuted
from tidemark.models.instance import Instance
from tidemark.models.interpreted.interpreter import BelowZeroError
from tidemark.models.lemmas.needed import Needed
from tidemark.models.manifest import AnyEntry, InstanceEntry, Kind, Manifest, StrengthEntry
from tidemark.models.manifest.resolve import instance_of, instance_of_mutant
from tidemark.models.mutation.generated import mutants_of, mutated
from tidemark.models.native.graph import build_graph
from tidemark.models.native.parts import KernelOfParts, PartsLibrary
from tidemark.models.native.search.breadth_first import Search, SearchLimits
from tidemark.spec.language.protocol import resolve
from tidemark.spec.language.render import render
from tidemark.spec.language.spec import Action, Property, Spec


@dataclass
class LivenessTrials:
    """Which assumptions of liveness claims were seen to matter.

    Args:
        asked: ids of leads_to claims of one protocol.
        instances: of that protocol; on all of them the claims hold.
        whole: these are all of its leads_to claims; only then the fairness of actions is looked at, which
            all of them share. It is shown with the first claim.
    """

    asked: Sequence[str]
    instances: Sequence[Instance]
    whole: bool
    parts: dict[str, Part] = field(init=False)
    seen: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.parts = self._parts(self.instances[0])

    def _claims(self, instance: Instance) -> list[Property]:
        """The claims as the instance says them: its constants are put in."""
        return [prop for prop in instance.spec.of_kind("leads_to") if prop.id in self.asked]

    def _parts(self, instance: Instance) -> dict[str, Part]:
        claims = self._claims(instance)
        found = [part for prop in claims for part in (*liveness_parts_of(prop), *_left_out(prop))]
        if self.whole and claims:
            found += [_fairness(claims[0], action) for action in _fair(instance)]
        return {part.id: part for part in found}

    def searches(self) -> Iterator[str]:
        """Search each instance. Raises BadInputError if a claim does not hold there."""
        for instance in self.instances:
            fair, claims = {action.name for action in _fair(instance)}, self._claims(instance)
            for prop in claims:
                self.seen |= {one.id: "its fairness" for one in _left_out(prop) if one.text in fair}
            # The states and steps of an instance, searched whole. Raises KeyboardInterrupt.
            search = Search(KernelOfParts(instance, PartsLibrary()), SearchLimits(), chunk=CHUNK, workers=1)
            found = search.run()
            if search.interrupted:
                raise KeyboardInterrupt
            checker = LivenessChecker(build_graph(found))
            for prop in claims:
                if checker.check(prop).lasso is not None:
                    raise BadInputError(
                        f"{prop.id} is refuted on {instance.name}: none of its parts can be looked at",
                        remedy="name an instance on which it holds",
                    )
            for part in self._parts(instance).values():
                if part.id not in self.seen and self._shows(checker, part, claims):
                    self.seen[part.id] = instance.name
            yield instance.name

    def _shows(self, checker: LivenessChecker, part: Part, claims: Sequence[Property]) -> bool:
        if part.place is Place.WITHOUT:
            return False
        if part.place is not Place.FAIRNESS:
            return checker.check(part.shows).lasso is not None
        without = [replace(prop, without=(*prop.without, part.text)) for prop in claims]
        return any(checker.check(prop).lasso is not None for prop in without)


def _fair(instance: Instance) -> list[Action]:
    return [action for action in instance.spec.actions if action.fairness != "none"]


def _fairness(first: Property, action: Action) -> Part:
    name = f"{first.id.partition('.')[0]}.fairness/{action.name}"
    return Part(name, first.id, Place.FAIRNESS, action.name, first)


def _left_out(prop: Property) -> Iterator[Part]:
    """The actions whose fairness the claim says that it does not need."""
    for action in prop.without:
        yield Part(f"{prop.id}/without/{action}", prop.id, Place.WITHOUT, action, prop)


@dataclass
class LemmaTrials:
    """Which lemmas were seen to be needed.

    Args:
        asked: lemmas of one protocol.
        instances: of that protocol.
    """

    asked: Sequence[Property]
    instances: Sequence[Instance]
    parts: dict[str, Part] = field(init=False)
    seen: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.parts = {
            prop.id: Part(prop.id, prop.id, Place.LEMMA, render(prop.expr), prop) for prop in self.asked
        }

    def searches(self) -> Iterator[str]:
        """Try the induction on each instance. Raises BadInputError if it fails with all lemmas."""
        for instance in self.instances:
            needed = Needed(instance)
            lemmas = [prop.id for prop in instance.spec.of_kind("lemma")]
            if not needed.closed_under(lemmas):
                raise BadInputError(
                    f"on {instance.name} the induction fails with all lemmas: none can be called needed",
                    remedy="name an instance on which it succeeds",
                )
            for name in self.parts:
                rest = [other for other in lemmas if other != name]
                if name not in self.seen and not needed.closed_under(rest):
                    self.seen[name] = instance.name
            yield instance.name


KINDS = ("invariant", "transition_invariant")
"""Kinds of claim whose parts are looked at."""
CHUNK = 2048
"""States that are expanded together."""


@dataclass(frozen=True)
class _Asked(Instance):
    """An instance whose claims are what must be seen."""

    of: Instance = field(default_factory=lambda: Instance(""))
    asked: tuple[Property, ...] = ()

    def traced(self) -> Spec:
        """The same steps, other claims."""
        return replace(self.of.traced(), properties=self.asked)


@dataclass
class Trials:
    """Which parts were seen to matter, and where.

    Attributes:
        claims: the claims by id whose parts are looked at.
        base: the claims as the protocol says them.
        parts: all their parts by id.
        seen: by the id of a part, what has shown it.
        runs: searches.
        states: states of all searches.
    """

    claims: Mapping[str, Property]
    base: Mapping[str, Property]
    parts: Mapping[str, Part] = field(init=False)
    seen: dict[str, str] = field(default_factory=dict)
    runs: int = 0
    states: int = 0
    _libraries: dict[object, PartsLibrary] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.parts = {part.id: part for claim in self.claims.values() for part in parts_of(claim)}

    def of(self, claims: Iterable[str], *, wrong: bool) -> list[Part]:
        """Parts of these claims that a wrong protocol, or else the protocol itself, can show."""
        chosen = set(claims)
        return [part for part in self.parts.values() if part.claim in chosen and wrong == part.place.weakens]

    def left(self, parts: Iterable[Part], *, listed: Collection[str]) -> list[Part]:
        """Those that did not show yet, and are not listed as idle."""
        return [part for part in parts if part.id not in self.seen and part.id not in listed]

    def try_on(self, instance: Instance, parts: Iterable[Part], *, states: int | None, what: str) -> None:
        """Search an instance, or so many states of it, for runs that show some of the parts.

        The same parts should be asked for again and again: each change of them compiles all steps anew.

        A claim that the instance's protocol says in other words than the base is left out.
        """
        own = {prop.id: prop for prop in instance.traced().properties}
        chosen = [part for part in parts if _alike(own.get(part.claim), self.base.get(part.claim))]
        if not chosen:
            return
        asked = _Asked(
            instance.protocol,
            instance.bounds,
            instance.constants,
            instance.name,
            instance,
            tuple(part.shows for part in chosen),
        )
        key = (instance.bounds, instance.constants)
        kernel = KernelOfParts(asked, self._libraries.setdefault(key, PartsLibrary()))
        search = Search(kernel, SearchLimits(states=states), chunk=CHUNK, workers=1)
        try:
            found = search.run()
        except BelowZeroError as error:  # of a wrong protocol: what it has shown before counts
            found = search.result(str(error))
        if search.interrupted:
            raise KeyboardInterrupt
        self.runs += 1
        self.states += found.distinct
        shown = [part.id for part in chosen if found.hit(part.shows) is not None]
        self.seen = dict.fromkeys(shown, what) | self.seen


def _alike(one: Property | None, other: Property | None) -> bool:
    return one is not None and other is not None and one.expr == other.expr


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
                wrong = instance_of_mutant(mutant, host)
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
    said = [f"{part.id} is idle, {part.place.idle_words}: {part.text}" for part in new]
    notes = tuple(f"{part.id} is idle: {entry.idle[part.id]}" for part in idle if part not in new)
    if not new and not gone:
        return holds(subject, counts=counts, bounds=bounds, notes=notes, replay=replay)
    return refuted(
        subject,
        counts=counts,
        reason="; ".join([*said, *(_shows(part, trials) for part in gone)]),
        bounds=bounds,
        replay=replay,
        notes=notes,
    )


def _shows(part: Part, trials: Looked) -> str:
    return f"{part.id} is listed as idle, and {trials.seen[part.id]} shows it: {part.text}"
