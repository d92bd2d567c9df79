"""Liveness of a hunted relation: its graph, in the form that the liveness checker takes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, cast

import numpy as np

from tidemark.checks.explore.liveness import LivenessChecker
from tidemark.checks.mutation.find_violation import Findings
from tidemark.models.native.graph import Graph
from tidemark.models.native.kernel import Kernel
from tidemark.models.native.search.breadth_first import SearchCounters, SearchResult
from tidemark.models.native.search.path import Path
from tidemark.spec.language.spec import Property


@dataclass(frozen=True)
class Lasso:
    """A run that breaks a leads_to: ``path`` goes round for ever from its ``loop_start``."""

    prop: Property
    path: Path


def first_lasso(findings: Findings, claims: Iterable[Property]) -> Lasso | None:
    """The first of the leads_to claims that a complete search refutes, with its lasso."""
    claims = tuple(claims)
    if not claims:
        return None
    checker = LivenessChecker(_graph(findings))
    for claim in claims:
        path = checker.check(claim).lasso
        if path is not None:
            return Lasso(claim, path)
    return None


def _graph(findings: Findings) -> Graph:
    """Expand all states once more and keep the edges that change the state."""
    if not findings.complete:
        raise ValueError(f"an incomplete search ({findings.stopped}) says nothing about liveness")
    visited, relation = findings.visited, findings.relation
    narrow = np.uint16 if len(relation.steps) < 1 << 16 else np.int32
    sources, targets, steps = [], [], []
    for part, offset in zip(relation.parts, relation.first_step, strict=True):
        for first, count in part.run(visited.states):
            source = part.buffers.parent[:count] + first
            target = visited.find(part.buffers.successors[:count])
            if count and int(target.min()) < 0:
                raise RuntimeError("a successor was not visited: the search was not complete")
            moves = source != target
            sources.append(source[moves].astype(np.int32))
            targets.append(target[moves].astype(np.int32))
            steps.append((part.buffers.step[:count][moves] + offset).astype(narrow))
    source = np.concatenate(sources)
    order = np.argsort(source, kind="stable")
    degrees = np.bincount(source, minlength=visited.count)
    first_edge = np.concatenate([np.zeros(1, np.int64), np.cumsum(degrees)])
    return Graph(
        _as_result(findings), first_edge, np.concatenate(targets)[order], np.concatenate(steps)[order]
    )


def _as_result(findings: Findings) -> SearchResult:
    """What the liveness checker asks of a finished search; there is no kernel of the whole relation."""
    relation = findings.relation
    whole: Any = SimpleNamespace(
        instance=relation.instance,
        interpreter=relation.interpreter,
        codec=relation.checker.codec,
        steps=relation.steps,
        plan=SimpleNamespace(steps=len(relation.steps)),
    )
    tally = SearchCounters(initial=findings.initial)
    return SearchResult(cast("Kernel", whole), findings.visited, tally, findings.stopped)
