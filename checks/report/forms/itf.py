"""Counterexamples in the Informal Trace Format (Apalache, architecture decision record 015)."""

from typing import Any

from pydantic_core import to_json

from tidemark.checks.verdicts.counterexample import Axes, Counterexample, Scalar, Shape, Value


def to_itf(trace: Counterexample, *, description: str) -> str:
    """The trace as ITF JSON, which ``forms.itf_reader`` reads back.

    The fired action is, with its arguments, in ``#meta`` of the next state; the protocol with its bounds
    and constants in the file's own ``#meta``.
    """
    states = trace.states()
    loops = trace.shape is Shape.LASSO and trace.loop_start is not None
    if loops and len(states) - 1 > (trace.loop_start or 0):
        states = states[:-1]  # it is the state to which the loop leads back
    meta: dict[str, Any] = {"format": "ITF", "description": description, "failing": trace.failing}
    meta["shape"] = trace.shape.value
    if trace.model is not None:
        meta["model"] = trace.model.model_dump(mode="json")
    document: dict[str, Any] = {
        "#meta": meta,
        "vars": list(trace.initial),
        "states": [_state(trace, number, state) for number, state in enumerate(states)],
    }
    if loops:
        document["loop"] = trace.loop_start
    return to_json(document, indent=1).decode() + "\n"


def _state(trace: Counterexample, number: int, state: dict[str, Value]) -> dict[str, Any]:
    meta: dict[str, Any] = {"index": number}
    if number:
        step = trace.steps[number - 1]
        meta |= {"action": step.action, "args": {name: _scalar(value) for name, value in step.args.items()}}
        if step.actor:
            meta["actor"] = step.actor
    return {"#meta": meta, **{name: _value(value, trace.axes.get(name)) for name, value in state.items()}}


def _scalar(value: Scalar) -> Any:
    if isinstance(value, int) and not isinstance(value, bool):
        return {"#bigint": str(value)}
    return value


def _value(value: Value, axes: Axes | None) -> Any:
    if not isinstance(value, tuple):
        return _scalar(value)
    if not axes:
        return {"#map": [[_scalar(at), _scalar(item)] for at, item in enumerate(value)]}
    return {"#map": [[_key(at, axes), _scalar(item)] for at, item in enumerate(value)]}


def _key(flat: int, axes: Axes) -> Any:
    keys: list[Any] = []
    for values in reversed(axes):
        flat, at = divmod(flat, len(values))
        keys.append(_scalar(values[at]))
    return keys[0] if len(keys) == 1 else {"#tup": keys[::-1]}
