"""Runs replayed by the interpreter: a path through the search graph, decoded and taken again step by step."""

from collections.abc import Sequence
from dataclasses import dataclass

from tidemark.models.interpreted.interpreter import Interpreter, Step
from tidemark.models.native.codec import State
from tidemark.models.native.search.result import Hit, SearchResult
from tidemark.models.native.symmetry import Symmetry


class PathMismatchError(RuntimeError):
    """The interpreter does not take a step of the kernel: an error of the native reading."""


@dataclass(frozen=True)
class Path:
    """A real run: one more of ``states`` than ``steps``; the end leads back to ``loop_start``."""

    states: tuple[State, ...]
    steps: tuple[Step, ...]
    loop_start: int | None = None


def chain(result: SearchResult, state: int) -> tuple[list[int], list[int]]:
    """Numbers of the states from an initial one to ``state``, and of the steps between them."""
    states, steps, initial = [state], [], result.totals.initial
    while states[-1] >= initial:
        steps.append(result.visited.step(states[-1]))
        states.append(result.visited.parent(states[-1]))
    return states[::-1], steps[::-1]


def path_to(result: SearchResult, hit: Hit) -> Path:
    """The shortest run to a hit, taken again by the interpreter. Raises PathMismatchError."""
    numbers, taken = chain(result, hit.state)
    codec, kernel = result.kernel.codec, result.kernel
    if result.symmetry is not None:
        last = [] if hit.step is None else [hit.step]
        return _unfolded(result, result.symmetry, numbers[0], taken + last)
    states = [codec.unpack(result.states[number]) for number in numbers]
    steps = [kernel.steps[step] for step in taken]
    if hit.step is not None:
        steps.append(kernel.steps[hit.step])
        states.append(codec.unpack(hit.target))
    return replayed(kernel.interpreter, states, steps)


def _unfolded(result: SearchResult, symmetry: Symmetry, first: int, taken: Sequence[int]) -> Path:
    """A real run that visits, up to renaming, the same representatives. ``back`` renames the present one into
    the state of the run. The first one is an initial state: these are closed under renaming.
    """
    interpreter, steps = result.kernel.interpreter, list[Step]()
    present = result.kernel.codec.unpack(result.states[first])
    states = [present]
    back = tuple(tuple(range(len(part))) for part in symmetry.renamings[0])
    for number in taken:
        step = result.kernel.steps[number]
        found = interpreter.apply(present, step)
        if found is None or not found.in_bounds:
            raise PathMismatchError(
                f"{step} from {interpreter.decode(present)} is not a step of the interpreter"
            )
        steps.append(symmetry.step(step, back))
        states.append(symmetry.state(found.state, back))
        forth = symmetry.to_representative(found.state)
        present = symmetry.state(found.state, forth)
        back = tuple(
            tuple(old[new.index(element)] for element in range(len(new)))
            for old, new in zip(back, forth, strict=True)
        )
    return replayed(interpreter, states, steps)


def replayed(
    interpreter: Interpreter, states: Sequence[State], steps: Sequence[Step], *, loop_start: int | None = None
) -> Path:
    """The run, after the interpreter has taken every step of it. Raises PathMismatchError."""
    if loop_start is None and not steps and states[0] not in interpreter.initial():
        raise PathMismatchError(f"{states[0]} is not an initial state")
    for number, step in enumerate(steps):
        found = interpreter.apply(states[number], step)
        if found is None or not found.in_bounds or found.state != states[number + 1]:
            raise PathMismatchError(
                f"step {number + 1}, {step}, from {interpreter.decode(states[number])} is not a step to "
                f"{interpreter.decode(states[number + 1])} for the interpreter"
            )
    return Path(tuple(states), tuple(steps), loop_start)
