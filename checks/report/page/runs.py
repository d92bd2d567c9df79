"""A run as data for the page, from which its script shows the state after any step."""

from __future__ import annotations

from typing import Any

from tidemark.checks.verdicts.counterexample import Axes, Counterexample, Value, index_text, show


def run_data(trace: Counterexample) -> dict[str, Any]:
    """``fields`` (an entry of a map is a field), their values at the start, and for each step its label and
    ``[field number, new value]`` for what it changes.
    """
    first = _flat(trace, trace.initial)
    numbers = {name: number for number, name in enumerate(first)}
    steps = []
    before = first
    for step in trace.steps:
        after = _flat(trace, step.after)
        changed = [[numbers[name], value] for name, value in after.items() if before.get(name) != value]
        steps.append([step.label, changed])
        before = after
    return {"fields": list(first), "first": list(first.values()), "steps": steps}


def _flat(trace: Counterexample, state: dict[str, Value]) -> dict[str, str]:
    found: dict[str, str] = {}
    for name, value in state.items():
        axes: Axes | None = trace.axes.get(name)
        if isinstance(value, tuple) and len(value) == len(_kept(trace.initial[name])):
            found |= {f"{name}[{index_text(at, axes)}]": show(item) for at, item in enumerate(value)}
        else:
            found[name] = show(value)
    return found


def _kept(value: Value) -> tuple[Any, ...]:
    return value if isinstance(value, tuple) else ()
