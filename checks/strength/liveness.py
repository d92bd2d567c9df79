"""Does each assumption of a liveness claim matter?

A hypothesis of a leads_to, or an alternative of what it promises, matters if some fair run breaks the claim
without it. The fairness of an action matters if without it some liveness claim is broken. Each is asked of
the graphs of the instances that are named: one search, and a search for lassos for each part.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from tidemark.checks.explore.liveness import LivenessChecker
from tidemark.checks.strength.parts import Part, Place, liveness_parts_of
from tidemark.checks.verdicts.errors import BadInputError
from tidemark.models.instance import Instance
from tidemark.models.native.graph import build_graph
from tidemark.models.native.parts import KernelOfParts, PartsLibrary
from tidemark.models.native.search.breadth_first import Search, SearchLimits
from tidemark.spec.language.spec import Action, Property

CHUNK = 2048


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
            checker = _graph_of(instance)
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


def _graph_of(instance: Instance) -> LivenessChecker:
    """The states and steps of an instance, searched whole. Raises KeyboardInterrupt."""
    search = Search(KernelOfParts(instance, PartsLibrary()), SearchLimits(), chunk=CHUNK, workers=1)
    found = search.run()
    if search.interrupted:
        raise KeyboardInterrupt
    return LivenessChecker(build_graph(found))
