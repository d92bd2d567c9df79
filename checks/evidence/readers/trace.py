"""Traces: steps that a program writes on purpose. The format is described in ``docs/traces.md``.

A file begins with a line that names the protocol; every other line is one step, numbered per node, so that
a loss shows.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from tidemark.checks.evidence.table.schema import Row, clamp


class Begin(BaseModel):
    """First line: which protocol the steps belong to, and what is fixed."""

    model_config = ConfigDict(frozen=True)

    kind: Literal["trace"] = "trace"
    v: Literal[1] = 1
    protocol: str = Field(min_length=1)
    """Name of the protocol (``timetick``), or a reference ``module:Class``."""
    constants: dict[str, Any] = Field(default_factory=dict)
    bounds: dict[str, int | tuple[int, int]] = Field(default_factory=dict)
    """Sorts and numbers that the steps do not name in full; the others come from the steps."""
    ranks: tuple[str, ...] = ()
    """Numbers (``Ts``) of which only the order matters: they are replaced by their rank."""
    hidden: tuple[str, ...] = ()
    """Actions that the program does not write; any of them may happen between two steps."""


class Line(BaseModel):
    """One step of one node."""

    model_config = ConfigDict(frozen=True)

    n: str = Field(min_length=1)
    """Node."""
    s: int = Field(ge=0)
    """Number of the step at its node, without gaps."""
    a: str = ""
    """Action of the specification; empty if nothing is said but what is seen (a stutter)."""
    t: int | None = None
    """Monotonic nanoseconds, for display."""
    k: str | None = None
    """Channel, for display and partition."""
    ts: int | None = None
    args: dict[str, Any] = Field(default_factory=dict)
    """Parameter -> value. A parameter that is left out is not observed."""
    see: dict[str, Any] = Field(default_factory=dict)
    """Variable, or ``variable[key]``, -> value after the step, as far as it was observed."""
    dropped: int = Field(default=0, ge=0)
    """Steps that the writer has lost before this one."""


def trace_row(source: str, line: int, entry: Mapping[str, Any]) -> Row:
    """A line as a row. Raises ValueError if it is neither a beginning nor a step."""
    if entry.get("kind") == "trace" and "protocol" in entry:
        begin = Begin.model_validate(entry)
        return Row(
            source,
            line,
            "trace.begin",
            component="trace",
            text=begin.protocol,
            value=begin.model_dump_json(exclude={"kind", "v", "protocol"}),
        )
    step = Line.model_validate({name: value for name, value in entry.items() if name != "kind"})
    if step.dropped and not step.a:
        return Row(
            source, line, "trace.dropped", component="trace", node=step.n, seq=step.s, rows=step.dropped
        )
    return Row(
        source,
        line,
        "trace.step",
        component="trace",
        node=step.n,
        channel=step.k,
        ts=None if step.ts is None else clamp(step.ts),
        seq=step.s,
        rows=step.dropped or None,
        text=step.a,
        value=json.dumps({"args": step.args, "see": step.see}, separators=(",", ":")),
    )
