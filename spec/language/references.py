"""References ``module:name``: how manifests, tasks and command lines name what is written in Python."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType
from typing import Any

from tidemark.spec.language.errors import SpecError


class ReferenceNotFoundError(SpecError):
    """A reference that leads to nothing, or to something else than what it is used for."""

    def __init__(self, problem: str, *, remedy: str) -> None:
        super().__init__(problem, remedy=remedy, place="reference")

    def __reduce__(self) -> tuple[Any, ...]:
        """An error has to survive the way back from another process."""
        return (_again, (self.problem, self.remedy))


def load_reference(reference: str, *, what: str) -> Any:
    """What ``module:name`` names; the name may have dots (``module:Class.method``).

    Args:
        reference: the reference.
        what: what is looked for, as messages call it: ``protocol``, ``program``.

    Raises:
        ReferenceNotFoundError: the text has another form, or there is no such module or name.
    """
    module, separator, path = reference.partition(":")
    if not (module and separator and path):
        raise ReferenceNotFoundError(
            f"no {what} {reference!r} (there is no colon between two names)", remedy="Write module:name"
        )
    try:
        found: Any = import_module(module)
        for part in path.split("."):
            found = getattr(found, part)
    except (ImportError, AttributeError, TypeError, ValueError) as error:
        raise ReferenceNotFoundError(
            f"no {what} {reference!r} ({error})", remedy="Correct the module or the name in module:name"
        ) from error
    return found


def load_module(name: str, *, what: str) -> ModuleType:
    """The module of a name, for those who look through all that is in it.

    Raises:
        ReferenceNotFoundError: there is no such module.
    """
    try:
        return import_module(name)
    except (ImportError, TypeError, ValueError) as error:
        raise ReferenceNotFoundError(f"no {what} {name!r} ({error})", remedy="Correct its name") from error


def load_callable(reference: str, *, what: str) -> Any:
    """The class or function that ``module:name`` names; like ``load_reference``, and it can be called.

    Raises:
        ReferenceNotFoundError: also if it cannot be called.
    """
    found = load_reference(reference, what=what)
    if not callable(found):
        raise ReferenceNotFoundError(
            f"{reference!r} is not a {what}: it is a {type(found).__name__}",
            remedy="Name a class or a function",
        )
    return found


def _again(problem: str, remedy: str) -> ReferenceNotFoundError:
    return ReferenceNotFoundError(problem, remedy=remedy)
