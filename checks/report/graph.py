"""A small instance as a state graph (DOT), and one run through it."""

from collections import deque

from tidemark.checks.report.forms.trace_text import field_text
from tidemark.checks.verdicts.counterexample import Counterexample
from tidemark.checks.verdicts.errors import BadInputError
from tidemark.checks.verdicts.trace import counterexample
from tidemark.models.instance import Instance
from tidemark.models.interpreted.evaluate import State
from tidemark.models.interpreted.interpreter import Interpreter, Step

_Edges = list[tuple[State, Step, State]]


def search_states(
    interpreter: Interpreter, limit: int
) -> tuple[dict[State, tuple[State, Step] | None], _Edges]:
    """Breadth-first: the parent of each state (None for an initial one), and all edges inside the bounds.

    Raises BadInputError beyond ``limit`` states: a graph that was cut would look like the whole.
    """
    parents: dict[State, tuple[State, Step] | None] = dict.fromkeys(interpreter.initial())
    edges: _Edges = []
    queue = deque(parents)
    while queue:
        state = queue.popleft()
        for found in interpreter.successors(state):
            if not found.in_bounds:
                continue
            edges.append((state, found.step, found.state))
            if found.state not in parents:
                if len(parents) >= limit:
                    raise BadInputError(
                        f"{interpreter.instance.name} has more than {limit:,} states",
                        remedy="choose a smaller instance, or raise --limit",
                    )
                parents[found.state] = (state, found.step)
                queue.append(found.state)
    return parents, edges


def dot(instance: Instance, *, limit: int) -> str:
    """The whole state graph in Graphviz's language; initial states are drawn with a double border."""
    interpreter = Interpreter(instance)
    parents, edges = search_states(interpreter, limit)
    numbers = {state: number for number, state in enumerate(parents)}
    lines = [f'digraph "{instance.name}" {{', '  node [shape=box, fontname="monospace", fontsize=9];']
    first = next(iter(parents))
    for state, number in numbers.items():
        double = ", peripheries=2" if parents[state] is None else ""
        label = "".join(f"{line}\\l" for line in state_label(instance, first, state))
        lines.append(f'  s{number} [label="{label}"{double}];')
    lines += [f'  s{numbers[one]} -> s{numbers[two]} [label="{step}"];' for one, step, two in edges]
    return "\n".join([*lines, "}"]) + "\n"


def state_label(instance: Instance, first: State, state: State) -> list[str]:
    """The variables that differ from the first initial state; the rest would make a picture unreadable."""
    trace = counterexample(instance, states=[state], steps=[], failing="nothing")
    names = list(trace.initial)
    odd = [name for name, now, then in zip(names, state, first, strict=True) if now != then]
    return [f"{name} = {field_text(trace, name, trace.initial[name])}" for name in odd]


def longest_run(instance: Instance, *, limit: int) -> Counterexample:
    """A shortest run to a state that is farthest from the initial ones: a tour of the instance."""
    interpreter = Interpreter(instance)
    parents, _ = search_states(interpreter, limit)
    state: State = list(parents)[-1]
    states, steps = [state], []
    while (parent := parents[states[-1]]) is not None:
        states.append(parent[0])
        steps.append(parent[1])
    return counterexample(instance, states=states[::-1], steps=steps[::-1], failing="nothing: an example run")
