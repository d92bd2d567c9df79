"""A counterexample as text: what changed at each step, and what failed."""

from collections.abc import Iterator, Sequence

from tidemark.checks.verdicts.counterexample import Change, Counterexample, Shape, Value, index_text, show

_HEAD = {
    Shape.RUN: "run from an initial state",
    Shape.LASSO: "run that ends in a cycle",
    Shape.INDUCTION: "one step from a state that satisfies every assumption (not necessarily reachable)",
}


def trace_text(trace: Counterexample, *, limit: int = 40, sources: Sequence[str] = ()) -> str:
    """The trace in lines: numbered actions, below each the changed fields, at the end the failing conjunct
    and ``sources``, which say where the property comes from.

    ``limit`` is the greatest number of steps shown; of a longer trace the middle is left out, and said so.
    """
    return "\n".join([*_lines(trace, limit=limit), *(f"  {source}" for source in sources)])


def _lines(trace: Counterexample, *, limit: int) -> Iterator[str]:
    count = len(trace.steps)
    yield f"{_HEAD[trace.shape]}, {count} step{'' if count == 1 else 's'}"
    for text in start_text(trace):
        yield f"     {text}"
    width = len(str(count))
    hidden = range(limit // 2 + 1, count - limit // 2 + 1) if count > limit else range(0)
    for number, step in enumerate(trace.steps, start=1):
        if trace.loop_start is not None and number == trace.loop_start + 1:
            yield "  -- from here on the steps repeat for ever --"
        if number in hidden:
            if number == hidden.start:
                yield f"  ... {len(hidden)} steps left out; the bundle has all ..."
            continue
        who = f"{step.actor}: " if step.actor else ""
        note = f"  ({step.note})" if step.note else ""
        yield f"  {number:>{width}}. {who}{step.label}{note}"
        for change in trace.changes(number):
            yield f"  {'':>{width}}    {change_text(change)}"
    if trace.loop_start == count:
        yield "  -- from here on nothing happens, for ever --"
    yield f"  fails: {trace.failing}"


def change_text(change: Change) -> str:
    """``held[3]: none -> buffered``."""
    return f"{change.field}: {show(change.before)} -> {show(change.after)}"


def start_text(trace: Counterexample) -> list[str]:
    """The first state, one line a field; only for an induction counterexample, which starts anywhere."""
    if trace.shape is not Shape.INDUCTION:
        return []
    return [f"{name} = {field_text(trace, name, value)}" for name, value in trace.initial.items()]


def field_text(trace: Counterexample, name: str, value: Value) -> str:
    """A field in full; of a map the entries that differ from its most frequent value, which comes first."""
    if not isinstance(value, tuple) or not value:
        return show(value)
    usual = max(dict.fromkeys(value), key=value.count)
    odd = [
        f"{index_text(at, trace.axes.get(name))}: {show(item)}"
        for at, item in enumerate(value)
        if item != usual
    ]
    return f"all {show(usual)}" + (f", except {{{', '.join(odd)}}}" if odd else "")
