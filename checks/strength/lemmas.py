"""Does a proof need each of its lemmas?

A lemma matters if the induction fails without it, all other lemmas being there: on an instance that is named,
by the solver, over all states and not only reachable ones. An induction that fails there fails for any size.
A lemma without which it succeeds may still be needed in larger instances; ``tidemark suggest --redundant``
decides that, and the reason with which the lemma is listed says so.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from tidemark.checks.strength.parts import Part, Place
from tidemark.checks.verdicts.errors import BadInputError
from tidemark.models.instance import Instance
from tidemark.models.lemmas.needed import Needed
from tidemark.spec.language.render import render
from tidemark.spec.language.spec import Property


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
