"""Named mutants: each says what it stands for and which claim must find it.

A mutant of a specification is a subclass of the protocol, or a line of the manifest that names the id of a
generated mutant or an option. One of the implementation is a patch (``tidemark.models.mutation.patches``), or
a function that returns the faulty program. The manifest lists the modules, with the number of their mutants.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from tidemark.spec.language.references import load_module

_MARK = "__mutants__"
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")

_Item = TypeVar("_Item", bound=Callable[..., Any])


@dataclass(frozen=True, kw_only=True)
class Declared:
    """One mutant as its module declares it. ``ref``: ``module:name``. ``name``: without what the manifest
    puts before it. ``killer``: property or claim that must be refuted; None, with a reason in ``equivalent``,
    if nothing can tell it apart. ``source``: which bug or hazard it stands for. ``instance``: the entry on
    which it must die. ``adds``: ids by kind of the properties that it declares beyond those of its base.
    """

    ref: str
    name: str
    killer: str | None
    equivalent: str | None
    source: str
    instance: str
    tier: str
    adds: Mapping[str, Sequence[str]] = field(default_factory=dict)


def mutant(
    *,
    killer: str | None = None,
    source: str,
    instance: str,
    name: str = "",
    tier: str = "fast",
    adds: Mapping[str, Sequence[str]] | None = None,
    equivalent: str | None = None,
) -> Callable[[_Item], _Item]:
    """Declare a class or function to be a mutant; once for each property that has to find it. Its name is
    made from the item's own (``SaveAppends`` and ``save_appends`` give ``save-appends``) unless ``name`` is
    given. See ``Declared``; a subclass of a mutant is none by itself.
    """

    def mark(item: _Item) -> _Item:
        declared = Declared(
            ref=f"{item.__module__}:{item.__qualname__}",
            name=name or _dashed(item.__name__),
            killer=killer,
            equivalent=equivalent,
            source=source,
            instance=instance,
            tier=tier,
            adds=dict(adds or {}),
        )
        # Decorators are applied from below; the one on top comes first.
        setattr(item, _MARK, (declared, *vars(item).get(_MARK, ())))
        return item

    return mark


def mutants_of(module: str) -> tuple[Declared, ...]:
    """The mutants that a module declares itself, in the order of its text. Raises ReferenceNotFoundError."""
    scope = vars(load_module(module, what="module of mutants"))
    own = [
        item
        for item in scope.values()
        if getattr(item, "__module__", None) == module and hasattr(item, "__dict__")
    ]
    marked = [declared for item in own for declared in vars(item).get(_MARK, ())]
    return (*marked, *(patch.declared(module) for patch in scope.get("MUTANTS", ())))


def _dashed(name: str) -> str:
    return _HUMP.sub("-", name).replace("_", "-").lower()
