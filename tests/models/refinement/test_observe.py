"""To look at an implementation changes nothing of it: each refining program is looked at twice after each
step of a schedule, and what its objects hold is compared.
"""

from collections import deque
from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from itertools import chain

from tests.manifests import entry_of, manifests
from tidemark.models.refinement.program import RefiningProgram
from tidemark.models.rooms import PACKAGE
from tidemark.models.simulation.execution import Execution
from tidemark.models.simulation.footprint import Interner
from tidemark.spec.language.references import load_callable

STEPS = 60
IMPL = f"{PACKAGE}.impl."
SIMULATION = f"{PACKAGE}.models.simulation."
LEFT_OUT = ("_world", "world", "abstraction")
"""Attributes of programs that lead out of the implementation."""


def programs() -> Iterator[tuple[str, RefiningProgram]]:
    """One entry of each class of refining programs, the first of the fast tier if there is one."""
    seen, factories = set(), set()
    entries = [entry for one in manifests().values() for entry in one.interleave]
    for entry in sorted(entries, key=lambda one: one.tier != "fast"):
        if entry.program in factories:
            continue
        made = load_callable(entry.program, what="program")(**entry.constants)
        if isinstance(made, RefiningProgram):
            factories.add(entry.program)
            if type(made) not in seen:
                seen.add(type(made))
                yield entry.name, made


def fields(one: object) -> dict[str, object]:
    """The attributes of an object, also those in slots."""
    slots = chain.from_iterable(getattr(base, "__slots__", ()) for base in type(one).__mro__)
    held = {name: getattr(one, name) for name in slots if hasattr(one, name)}
    return held | getattr(one, "__dict__", {})


def picture(root: object) -> list[object]:
    """What the objects of the implementation hold that are reached from here, in a fixed order.

    Objects around it are passed through, and their own plain values left out: those are notes.
    """
    found: list[object] = []
    numbers: dict[int, int] = {}
    stack: list[tuple[object, bool]] = [(root, False)]
    while stack:
        one, inside = stack.pop()
        if isinstance(one, (str, bytes, int, float, bool, type(None))):
            found += [one] if inside else []
        elif id(one) in numbers:
            found += [("again", numbers[id(one)])] if inside else []
        else:
            numbers[id(one)] = len(numbers)
            inside = inside or comes_from(one, IMPL)
            found += [type(one).__name__] if inside else []
            stack += [(part, inside) for part in reversed(parts(one, inside=inside))]
    return found


def comes_from(one: object, package: str) -> bool:
    """Whether an object is of a class of a package, or of a variant of one."""
    return any(base.__module__.startswith(package) for base in type(one).__mro__)


def parts(one: object, *, inside: bool) -> list[object]:
    """What an object holds, as far as it leads to the implementation or is part of it."""
    if isinstance(one, Mapping):
        return [*one.keys(), *one.values()]
    if isinstance(one, AbstractSet):
        return sorted(one, key=repr)
    if isinstance(one, (list, tuple, deque)):
        return list(one)
    if not comes_from(one, f"{PACKAGE}.") or type(one).__module__.startswith(SIMULATION):
        return []
    return [value for name, value in sorted(fields(one).items()) if name not in LEFT_OUT]


def looked_at_twice(program: RefiningProgram) -> tuple[int, str | None]:
    """Run a schedule that takes the oldest and the newest event by turns, and in which nobody else looks. How
    many objects' values were compared, and what an observation has changed.
    """
    execution = Execution(program, Interner())
    execution.start()
    compared = 0
    try:
        for number in range(STEPS):
            before = picture(program)
            first, second = program.observe(), program.observe()
            compared += len(before)
            if first != second:
                return compared, f"after {number} steps two observations differ"
            if picture(program) != before:
                return compared, f"after {number} steps an observation has changed what is observed"
            events = [event for event in execution.enabled() if not event.fault]
            if not events or execution.violation is not None:
                break
            execution.step_again(events[-1 if number % 3 == 2 else 0])
    finally:
        execution.close()
    return compared, None


def test_to_observe_changes_nothing():
    answers = {name: looked_at_twice(program) for name, program in programs()}
    assert {name: changed for name, (_, changed) in answers.items() if changed} == {}
    assert {name for name, (compared, _) in answers.items() if not compared} == set()
    assert len(answers) > 30


def planted(program, observe):
    kind = type(program)
    program.__class__ = type(kind.__name__, (kind,), {"observe": observe(kind)})
    return program


def fresh(name):
    entry = entry_of(name)
    return load_callable(entry.program, what="program")(**entry.constants)


def test_a_look_that_moves_something_is_found():
    def observe(kind):
        def look(self):
            found = kind.observe(self)
            self.metas[0].last += 1
            return found

        return look

    _, changed = looked_at_twice(planted(fresh("meta-impl-two-changes"), observe))
    assert changed is not None


def test_a_look_that_takes_out_what_it_shows_is_found():
    def observe(kind):
        def look(self):
            found = kind.observe(self)
            self.metas[0].acknowledged.clear()
            return found

        return look

    _, changed = looked_at_twice(planted(fresh("meta-impl-two-changes"), observe))
    assert changed is not None
