"""References ``module:name``: how manifests, tasks and command lines name Python objects."""

import difflib
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

from tidemark.spec.language.errors import AuthorError, SpecError, place_in


class ReferenceNotFoundError(SpecError):
    """A reference that does not resolve, or names something of another kind."""

    def __init__(self, problem: str, *, remedy: str) -> None:
        super().__init__(problem, remedy=remedy, place="")

    def __reduce__(self) -> tuple[Any, ...]:
        """The error survives pickling."""
        return (_again, (self.problem, self.remedy))


def load_reference(reference: str, *, what: str) -> Any:
    """What ``module:name`` names; the name may have dots (``module:Class.method``).

    Args:
        reference: the reference.
        what: the kind of object, as messages call it: ``protocol``, ``program``.

    Raises:
        ReferenceNotFoundError: the text has another form, or there is no such module or name.
        SpecError: the module cannot be imported because of an error in its text, or it ends the process.
    """
    module, separator, path = reference.partition(":")
    if not (module and separator and path):
        raise ReferenceNotFoundError(
            f"no {what} {reference!r} (there is no colon between two names)", remedy="Write module:name"
        )
    if module.endswith(".py") or "/" in module:
        raise ReferenceNotFoundError(
            f"no {what} {reference!r} ({module!r} is a path, and no module)",
            remedy=f"Write  {Path(module).stem}:{path}  in the folder of the file",
        )
    remedy = "Correct the module or the name in module:name"
    found: Any = _imported(module, problem=f"no {what} {reference!r}", remedy=remedy)
    for part in path.split("."):
        try:
            found = getattr(found, part)
        except AttributeError as error:
            problem = f"no {what} {reference!r} ({error})"
            raise ReferenceNotFoundError(problem, remedy=_near(found, part) + remedy) from error
    return found


def load_module(name: str, *, what: str) -> ModuleType:
    """The module of a name.

    Raises:
        ReferenceNotFoundError: there is no such module.
        SpecError: it cannot be imported because of an error in its text, or it ends the process.
    """
    return _imported(name, problem=f"no {what} {name!r}", remedy="Correct its name")


def _imported(name: str, *, problem: str, remedy: str) -> ModuleType:
    try:
        return import_module(name)
    except SpecError:
        raise
    except SystemExit as error:
        raise SpecError(
            f"{name} cannot be imported: it calls sys.exit({error.code!r})",
            remedy="Remove the call, or put it below  if __name__ == '__main__':",
            place=place_in(error) or name,
        ) from error
    except Exception as error:
        place = place_in(error)
        missing = isinstance(error, ModuleNotFoundError) and f"{name}.".startswith(f"{error.name}.")
        if missing or place is None:
            raise ReferenceNotFoundError(f"{problem} ({error})", remedy=remedy) from error
        raise AuthorError(error, place=place, doing=f"{name} cannot be imported") from error


def _near(found: Any, part: str) -> str:
    near = difflib.get_close_matches(part, [name for name in dir(found) if not name.startswith("_")], n=1)
    return f"Did you mean {near[0]!r}? " if near else ""


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
