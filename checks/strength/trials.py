"""Runs in which the parts of claims show: of the protocol itself, and of wrong ones.

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

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from tidemark.checks.explore.liveness import LivenessChecker
from tidemark.checks.strength.parts import Part, Place, liveness_parts_of, parts_of
from tidemark.checks.verdicts.errors import BadInputError
from tidemark.models.instance import Instance
from tidemark.models.interpreted.interpreter import BelowZeroError
from tidemark.models.lemmas.needed import Needed
from tidemark.models.native.graph import build_graph
from tidemark.models.native.parts import KernelOfParts, PartsLibrary
from tidemark.models.native.search.breadth_first import Search, SearchLimits
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
