"""Where refinement mappings have the variables of a specification from: fields of the implementation, or what
surrounds it. It is recorded while the programs of the manifest run.

A variable comes from a field if it has another value when the mapping is given another one in place of the
field's. A mapping may read more than is recorded: of most types the other value is the first that was read.
"""

import copy
import importlib
import random
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from enum import Enum
from inspect import isawaitable
from typing import Any

from tidemark.checks.interleave.executions.run import Runner
from tidemark.checks.interleave.judge import program_of
from tidemark.checks.interleave.strategies.strategy import StateStrategy
from tidemark.models.manifest import ConformEntry, Expected, InterleaveEntry, Manifest
from tidemark.models.refinement.origins import Environment
from tidemark.models.refinement.program import RefiningProgram
from tidemark.models.rooms import PACKAGE, PROTOCOLS, protocol_files
from tidemark.models.simulation import Execution, Footprint, Interner, ProgramRef
from tidemark.spec.language.protocol import Protocol, resolve

Evaluate = Callable[[], Mapping[str, Any]]
"""The mapping applied to the present state: the values of the variables."""

Field = tuple[str, str]
"""A class of the implementation, and one of its fields, properties or methods."""

_IMPL = f"{PACKAGE}.impl."
_CONTAINERS = (dict, list, set, tuple)


class Recorder:
    """Notes what is read of objects of the implementation by code that is not its own.

    Attributes:
        fields: what was read so far.
    """

    def __init__(self) -> None:
        self.fields: set[Field] = set()
        self._first: dict[Field, Any] = {}
        self._active = False
        self._masked: Field | None = None

    @contextmanager
    def installed(self) -> Iterator[None]:
        """Hear of all reads of classes that are loaded."""
        # The classes of the implementation that are loaded, without those that inherit from another of
        # them.
        modules = [module for name, module in list(sys.modules.items()) if name.startswith(_IMPL)]
        values = [value for module in modules for value in vars(module).values() if isinstance(value, type)]
        found = {one for one in values if _is_ours(one) and not issubclass(one, Enum | BaseException)}
        classes = {one for one in found if found.isdisjoint(one.__mro__[1:])}
        for owner in classes:
            original: Any = owner.__getattribute__
            setattr(owner, "__getattribute__", self._reading(original))  # noqa: B010
        try:
            yield
        finally:
            for owner in classes:
                del owner.__getattribute__

    def read(self, evaluate: Evaluate, masked: Field | None = None) -> dict[str, Any]:
        """Evaluate a mapping. ``masked``: the field that gives what was read there first."""
        self._active, self._masked = True, masked
        try:
            return dict(evaluate())
        finally:
            self._active, self._masked = False, None

    def _reading(self, original: Callable[[Any, str], Any]) -> Callable[[Any, str], Any]:
        def reading(one: Any, name: str) -> Any:
            value = original(one, name)
            if not self._active or name.startswith("_") or _from_implementation():
                return value
            return self._note((_name_of(type(one)), name), value)

        return reading

    def _note(self, where: Field, value: Any) -> Any:
        self.fields.add(where)
        if callable(value):
            return lambda *given, **named: self._note_value(where, value(*given, **named))
        return self._note_value(where, value)

    def _note_value(self, where: Field, value: Any) -> Any:
        if isawaitable(value):
            return value
        first = self._first.setdefault(where, copy.copy(value) if isinstance(value, _CONTAINERS) else value)
        return value if where != self._masked else _other(value, first)


def _other(value: Any, first: Any) -> Any:
    """What the mapping is given in place of a value: another one, if there is one."""
    if isinstance(value, bool):
        return not value
    if first != value:
        return first
    if isinstance(value, int):
        return type(value)(value + 1)
    return type(value)() if isinstance(value, _CONTAINERS) else value


def _is_ours(owner: type) -> bool:
    return owner.__module__.startswith(_IMPL)


def _from_implementation() -> bool:
    caller = sys._getframe(2)  # noqa: SLF001
    while caller.f_globals["__name__"] == __name__:
        assert caller.f_back is not None
        caller = caller.f_back
    return str(caller.f_globals["__name__"]).startswith(_IMPL)


def _name_of(kind: type) -> str:
    return next(one.__name__ for one in kind.__mro__ if _is_ours(one))


_WALKS, _STEPS = 200, 120


@dataclass
class Origins:
    """Where one mapping has its variables from.

    Attributes:
        variables: of the specification.
        reasons: see ``Environment``.
        ignored: those that are left out of the comparison.
        fields: by variable the fields that it depends on.
    """

    variables: tuple[str, ...]
    reasons: dict[str, str]
    ignored: set[str] = field(default_factory=set)
    fields: dict[str, set[Field]] = field(default_factory=dict)
    _seen: set[tuple[str, int]] = field(default_factory=set)

    def unknown(self) -> list[str]:
        """Variables of which nothing is known."""
        return [name for name in self.variables if self.kind(name) == "unknown"]

    def kind(self, variable: str) -> str:
        """Whether it is read, read in part, or environment; "unknown" if it was not seen to depend on a field
        and no reason is given.
        """
        if self.fields.get(variable):
            return "in part" if variable in self.reasons else "read"
        return "environment" if variable in self.reasons or variable in self.ignored else "unknown"

    def look(self, recorder: Recorder, evaluate: Evaluate) -> None:
        """Ask which variables depend on which field in the present state, if none like it was looked at."""
        plain = recorder.read(evaluate)
        state = (repr(plain), len(recorder.fields))
        if state in self._seen:
            return
        self._seen.add(state)
        for where in sorted(recorder.fields):
            with suppress(Exception):  # what was read first need not fit the rest
                masked = recorder.read(evaluate, where)
                for name in [name for name, value in plain.items() if masked[name] != value]:
                    self.fields.setdefault(name, set()).add(where)


class _Walk(StateStrategy):
    """Walks at random, and looks at each state."""

    def __init__(self, seed: int, look: Callable[[Execution], None]) -> None:
        self._random = random.Random(seed)
        self._look = look

    def new_execution(self) -> bool:
        """Always."""
        return True

    def arrive(self, execution: Execution) -> bool:
        """Look at the state."""
        self._look(execution)
        return True

    def pick(self, enabled: Sequence[str], last: Footprint | None) -> int:
        """Any."""
        del last
        return self._random.randrange(len(enabled))

    def done(self, last: Footprint | None) -> None:
        """Nothing is learned."""


def tables() -> dict[str, Environment]:
    """The tables of all mappings by folder; a further one of a folder by its file too."""
    found = {}
    for path in (*protocol_files("refinement.py"), *protocol_files("refinement/*.py")):
        room, *inner = path.relative_to(PROTOCOLS).with_suffix("").parts
        inner = [name for name in inner[1:] if name != "__init__"]
        module = importlib.import_module(".".join((PACKAGE, "models.protocols", room, "refinement", *inner)))
        table = getattr(module, "ENVIRONMENT", None)
        if isinstance(table, Environment):
            found["/".join((room, *inner))] = table
    return found


def origins(table: Environment, manifest: Manifest) -> Origins:
    """Record where a mapping has its variables from, in random walks over the manifest's programs that follow
    its protocol. Walks end when the table is complete, or after so many.
    """
    spec = resolve(table.protocol)
    entries: list[ConformEntry | InterleaveEntry] = [*manifest.conform, *manifest.interleave]
    named = [program_of(one) for one in entries if one.program and one.expect.every is Expected.HOLDS]
    programs = [one for one in named if _follows(one, spec)]
    first = programs[0].load()()
    assert isinstance(first, RefiningProgram)
    names = tuple(variable.name for variable in first.checker.spec.variables)
    found, recorder = Origins(names, table.by_variable()), Recorder()
    with recorder.installed():
        for number in range(_WALKS):
            for program in programs:
                _walk(found, recorder, program, number)
            if not found.unknown():
                break
    return found


def _follows(program: ProgramRef, spec: type[Protocol]) -> bool:
    """Whether each step of a program is to be a step of a specification."""
    one = program.load()()
    return isinstance(one, RefiningProgram) and resolve(one.checker.interpreter.instance.protocol) is spec


def _walk(found: Origins, recorder: Recorder, program: ProgramRef, seed: int) -> None:
    def look(execution: Execution) -> None:
        this = execution.program
        assert isinstance(this, RefiningProgram)
        found.ignored |= set(this.checker.ignored)
        found.look(recorder, lambda: this.abstraction.values(this.observe() or {}))

    Runner(program.load(), _Walk(seed, look), interner=Interner(), steps=_STEPS).run()


def origins_text(found: Mapping[str, Origins], *, only_adapters: bool = False) -> str:
    """The tables as text. ``only_adapters``: what is not wholly read from the implementation."""
    lines, kinds = [], Counter[str]()
    for name, table in found.items():
        lines.append(name)
        for variable in table.variables:
            kind, reason = table.kind(variable), table.reasons.get(variable, "")
            kinds[kind] += 1
            if reason or not only_adapters:
                fields = ", ".join(sorted(".".join(one) for one in table.fields.get(variable, ())))
                lines.append(f"  {variable} ({kind}): {'; '.join(filter(None, (fields, reason)))}")
        lines.append("")
    lines.append(
        f"{kinds.total()} variables of {len(found)} mappings: {kinds['read']} are read from the"
        f" implementation, {kinds['in part']} in part, {kinds['environment']} are environment or noted by"
        " adapters"
    )
    return "\n".join(lines)
