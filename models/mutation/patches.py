"""Named mutants of the implementation as changes of the text of its functions.

A module of mutants lists them::

    BEHIND = Host("sessions-impl-falls-behind", sessions)

    MUTANTS = patches(
        __name__,
        Patch(
            "a-refused-watch-goes-on",
            at="rootcoord/session_watch.py:SessionWatch.run",
            old="self.revision = await self._sync.list_again(self._sessions.take_over)",
            new="self.revision += 1",
            on=BEHIND,
            source="seed 004: service discovery",
            says="A watch that is refused continues behind what the store has forgotten.",
        ),
    )

Each is an attribute of the module, too, and called like the factory of its host's program: it puts the
changed code in and returns the program. The code stays in until another program is loaded, or ``restore`` is
called. No file is written; whoever has imported the function or its class before runs the changed code.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import KW_ONLY, dataclass, field, replace
from functools import cache
from importlib import import_module
from types import CodeType, FunctionType
from typing import Any

from tidemark.models.mutation.declared import Declared
from tidemark.models.mutation.source.edits import Function
from tidemark.models.mutation.source.mutants import SourceMutant, functions
from tidemark.models.mutation.source.planting import compiled, function_of, module_name
from tidemark.models.rooms import PACKAGE, ROOT
from tidemark.spec.language.errors import SpecError

IMPL = "impl"
"""The room of the implementation, not named as a package: no judge depends on all of it."""


REFINES, WALKS = "refinement", "conformance"
"""The claim of a program whose steps are compared with a specification, and that of walks over it."""

SLIP = "/slip:"
"""Between function and name in the id of a slip."""


class PatchError(SpecError):
    """The code has moved on: what a patch replaces is not in the function, or stands there more than once."""


@dataclass(frozen=True)
class Host:
    """Where a mutant has to die: the ``entry`` of the manifest; ``make``, the factory of the program or the
    adapter that it names; and further arguments of the factory, see ``like``.
    """

    entry: str
    make: Callable[..., Any]
    given: tuple[tuple[str, Any], ...] = field(default=(), hash=False)

    def like(self, **given: Any) -> Host:
        """The same with further arguments of the factory: often the variant of the specification that makes
        the mistake of the mutant, so that a property is refuted, and not only the refinement.
        """
        return replace(self, given=tuple(given.items()))


@dataclass(frozen=True)
class Edit:
    """One change of one function: ``file:function``, the file below ``impl/``, the function by its qualified
    name. ``old`` stands in its text exactly once; ``new`` takes its place.
    """

    at: str
    old: str
    new: str

    def _text(self) -> str:
        return (ROOT / IMPL / self.at.partition(":")[0]).read_text(encoding="utf-8")

    def _node(self, text: str) -> Function:
        node = dict(functions(ast.parse(text))).get(self.at.partition(":")[2])
        if node is None:
            raise PatchError("there is no such function", remedy="Name file:Class.function", place=self.at)
        return node

    def line(self) -> int:
        """The line of the statement that changes. Raises PatchError."""
        text = self._text()
        node = self._node(text)
        own = text.splitlines(keepends=True)[node.lineno - 1 :]
        changed = node.lineno + "".join(own).partition(self.old)[0].count("\n")
        inside = [one for one in ast.walk(node) if isinstance(one, ast.stmt) and one is not node]
        first = min(one.lineno for one in inside)
        return max((one.lineno for one in inside if one.lineno <= changed), default=first)

    def changed(self) -> Function:
        """The changed function. Raises PatchError."""
        return dict(functions(self._tree()))[self.at.partition(":")[2]]

    def code(self) -> tuple[FunctionType, CodeType]:
        """The function and its changed code. Raises PatchError."""
        file, _, name = self.at.partition(":")
        tree = self._tree()
        module = module_name(f"{PACKAGE}.{IMPL}", file)  # the program loads it: a key of a verdict has it
        function = function_of(import_module(module), name)
        return function, compiled(tree, function.__code__, name)

    def _tree(self) -> ast.Module:
        """The file with the changed function."""
        text = self._text()
        node = self._node(text)
        lines = text.splitlines(keepends=True)
        first, last = node.lineno - 1, node.end_lineno
        before, own, after = ("".join(part) for part in (lines[:first], lines[first:last], lines[last:]))
        if own.count(self.old) != 1:
            raise PatchError(
                f"{self.old!r} stands there {own.count(self.old)} times, not once",
                remedy="Give more of the text around the place, as it is now",
                place=self.at,
            )
        try:
            return ast.parse(before + own.replace(self.old, self.new) + after)
        except SyntaxError as error:
            problem = f"with {self.new!r} it is no Python: {error.msg}"
            raise PatchError(problem, remedy="Correct it", place=self.at) from error


@dataclass(frozen=True)
class Patch:
    """A mutant of the implementation. See ``Edit`` and ``Declared`` for what is not said here. ``on``: the
    entry on which it must die, ``killer``: by what claim, by default the refinement; ``walked``: an entry of
    walks, on which it must die, too. Without any entry it is one of the ``slips`` of an
    ``[implementation.NAME]``, tried with the mutants that rules make. ``says``: what is wrong. ``also``:
    changes of other functions, which belong to it.
    """

    name: str
    _: KW_ONLY
    at: str
    old: str
    new: str
    source: str
    says: str
    on: Host | None = None
    killer: str | None = None
    equivalent: str | None = None
    tier: str = "fast"
    also: tuple[Edit, ...] = ()
    walked: Host | None = None

    def __post_init__(self) -> None:
        places = [self.at, *(edit.at for edit in self.also)]
        if len(set(places)) < len(places):
            raise PatchError(f"{self.name!r} changes one place twice", remedy="Join them", place=self.at)
        if self.on is not None and self.killer is None and self.equivalent is None:
            object.__setattr__(self, "killer", REFINES)

    @property
    def attribute(self) -> str:
        """Its name in its module."""
        return self.name.replace("-", "_") + ("_walked" if self.killer == WALKS else "")

    @property
    def slip(self) -> str:
        """Its id among the mutants of its file."""
        return f"{self.at}{SLIP}{self.name}"

    def mutant(self) -> SourceMutant:
        """The slip as one of the mutants of its file. Raises PatchError."""
        file, _, name = self.at.partition(":")
        edit = Edit(self.at, self.old, self.new)
        return SourceMutant(self.slip, file, name, "slip", edit.line(), self.old, self.new, edit.changed())

    def codes(self) -> list[tuple[FunctionType, CodeType]]:
        """Each function with its changed code. Raises PatchError."""
        return [edit.code() for edit in (Edit(self.at, self.old, self.new), *self.also)]

    def __call__(self, *args: Any, **options: Any) -> Any:
        """What the host's entry names, made with the changed code, which stays in. Raises PatchError."""
        assert self.on is not None, "a slip is no program"
        put_in(self)
        return self.on.make(*args, **{**options, **dict(self.on.given)})

    def __getattr__(self, name: str) -> Any:
        """What else is asked of an adapter's class is the class' own."""
        if name.startswith("__") or self.on is None:
            raise AttributeError(name)
        return getattr(self.on.make, name)

    def declared(self, module: str) -> Declared:
        """What its manifest makes an entry of."""
        return Declared(
            ref=f"{module}:{self.attribute}",
            name=self.name,
            killer=self.killer,
            equivalent=self.equivalent,
            source=self.source,
            instance="" if self.on is None else self.on.entry,
            tier=self.tier,
        )


def patches(module: str, *given: Patch) -> tuple[Patch, ...]:
    """The mutants of a module, each made an attribute of it, followed by those that are walked.

    Raises PatchError if two have one name.
    """
    scope = vars(sys.modules[module])
    walked = [replace(one, on=one.walked, killer=WALKS, walked=None) for one in given if one.walked]
    every = (*(one for one in given if one.on or not one.walked), *walked)
    for patch in every:
        if patch.attribute in scope:
            raise PatchError(f"there are two {patch.name!r}", remedy="Rename one", place=module)
        scope[patch.attribute] = patch
    return every


_inside: list[tuple[Patch, list[tuple[FunctionType, CodeType]]]] = []
"""The patch whose code is in, if any, with the code that was there before."""


def put_in(patch: Patch) -> None:
    """Put the changed code of a patch in, in place of that of any other. Raises PatchError."""
    if _inside and _inside[0][0] is patch:
        return
    restore()
    codes = _codes(patch)
    _inside.append((patch, [(function, function.__code__) for function, _ in codes]))
    for function, code in codes:
        function.__code__ = code


@contextmanager
def patched(patch: Patch) -> Iterator[None]:
    """Run the changed code of a patch for a while: programs that are made meanwhile, and ``restore``, leave
    it in. Raises PatchError.
    """
    restore()
    codes = _codes(patch)
    before = [function.__code__ for function, _ in codes]
    for function, code in codes:
        function.__code__ = code
    try:
        yield
    finally:
        restore()
        for (function, _), code in zip(codes, before, strict=True):
            function.__code__ = code


def present() -> Patch | None:
    """The patch whose code is in: what was made with its code is not what the code as it is written makes."""
    return _inside[0][0] if _inside else None


def restore() -> None:
    """Put back the code that was there before a patch."""
    while _inside:
        for function, code in reversed(_inside.pop()[1]):
            function.__code__ = code


@cache
def _codes(patch: Patch) -> list[tuple[FunctionType, CodeType]]:
    return patch.codes()
