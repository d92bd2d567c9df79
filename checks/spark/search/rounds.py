"""The two halves of a round, as pure functions of files: expand the states of a partition, absorb what
others sent.

They know nothing of Spark. The driver calls them for small levels; Spark tasks call them for large ones.
"""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from tidemark.checks.spark.search.search_kernel import (
    SearchKernel,
    StepFacts,
    judge_states,
    kernel_of,
    states_to_json,
)
from tidemark.checks.spark.states.level_log import Header
from tidemark.checks.spark.states.packed_states import PackedStates, owners_of, sorted_run
from tidemark.checks.spark.states.sent_filter import SentFilter
from tidemark.checks.spark.states.store import Store
from tidemark.checks.spark.states.visited_cache import VisitedCache
from tidemark.models.instance import Instance

_SEND = 1 << 22  # bytes gathered before they are sent
_FACTS = -1

Packet = tuple[int, int, bytes]
"""Sending partition, number of the packet (-1: the sender's facts), content."""

_filters: dict[tuple[Instance, str, str], SentFilter] = {}
"""That of the last run of this process."""


@dataclass(frozen=True, kw_only=True)
class Plan:
    """All that a task needs to know. ``number`` is the round whose states are looked for."""

    root: str
    run: str
    instance: Instance
    factory: str
    """``module:function`` that makes the kernel of the instance in every process."""
    partitions: int
    number: int
    session: str
    """Of the driver: a search that is resumed has another one. Caches go by it, states do not."""

    @property
    def kernel(self) -> SearchKernel:
        """The compiled kernel of this process."""
        return kernel_of(self.instance, self.factory)

    @property
    def store(self) -> Store:
        """The files of the run."""
        return Store(Path(self.root), self.run, self.kernel.words)


def start(plan: Plan) -> None:
    """Round 0: every owner's initial states."""
    initial = sorted_run(plan.kernel.initial())
    owners = owners_of(initial, plan.partitions)
    for partition in range(plan.partitions):
        _write(plan, partition, initial[owners == partition], StepFacts())


def expand(plan: Plan, partition: int) -> Iterator[tuple[int, Packet]]:
    """Packets for the owners of the successors of this partition's last states, and its facts for itself.

    Another attempt may send other packets, but no fewer of the states that are new to their owners.
    """
    kernel, facts, sequence = plan.kernel, StepFacts(), 0
    store, remembered = plan.store, _sent_filter(plan)
    _, frontier = store.open(store.log_path(plan.number - 1, partition), partition)
    remembered.begin(plan.number)
    waiting: list[list[PackedStates]] = [[] for _ in range(plan.partitions)]
    pending = 0
    for at in range(0, frontier.shape[0], kernel.chunk):
        rows = frontier[at : at + kernel.chunk]
        block = kernel.expand(rows)
        parts = remembered.split(block.successors)
        for owner, part in enumerate(parts):
            if part.shape[0]:
                waiting[owner].append(part)
        sent = sum(part.shape[0] for part in parts)
        pending += sent * kernel.words * 8
        facts.add(block, expanded=rows.shape[0], sent=sent)
        if pending >= _SEND:
            yield from _packets(waiting, partition, sequence)
            sequence, pending = sequence + 1, 0
    yield from _packets(waiting, partition, sequence)
    yield partition, (partition, _FACTS, json.dumps(facts.to_json()).encode())


def _sent_filter(plan: Plan) -> SentFilter:
    key = plan.instance, plan.factory, plan.run
    if key not in _filters:
        _filters.clear()
        _filters[key] = SentFilter(words=plan.kernel.words, partitions=plan.partitions)
    return _filters[key]


def _packets(waiting: list[list[PackedStates]], source: int, sequence: int) -> Iterator[tuple[int, Packet]]:
    for owner, parts in enumerate(waiting):
        if parts:
            yield owner, (source, sequence, b"".join(part.tobytes() for part in parts))
            parts.clear()


def absorb(plan: Plan, partition: int, packets: Iterable[Packet]) -> Header:
    """Write the new states among those received, with the facts about them and about the sender of the same
    number.

    The file depends only on the set of states received, neither on their order nor on how often the task
    runs.
    """
    facts: StepFacts | None = None
    blocks: list[PackedStates] = []
    for source, sequence, content in packets:
        if sequence != _FACTS:
            blocks.append(np.frombuffer(content, dtype="<u8").reshape(-1, plan.kernel.words))
        elif source == partition and facts is None:
            facts = StepFacts.from_json(json.loads(content))
        else:
            raise RuntimeError(
                f"partition {partition} got the facts of {source} in round {plan.number}, or got them twice"
            )
    if facts is None:
        raise RuntimeError(f"partition {partition} got no facts in round {plan.number}: packets were lost")
    store = plan.store
    known = VisitedCache(session=plan.session, partition=partition, store=store)
    fresh = known.fresh(blocks, before=plan.number)
    if fresh is not None:
        return _write(plan, partition, fresh, facts)
    received = np.concatenate([np.empty((0, store.words), np.uint64), *blocks])
    header = _write(
        plan, partition, store.new_states(sorted_run(received), partition, before=plan.number), facts
    )
    if known.given_up:
        store.compact(partition, number=plan.number)
    return header


def _write(plan: Plan, partition: int, block: PackedStates, facts: StepFacts) -> Header:
    findings = states_to_json(judge_states(plan.kernel, block))
    found: dict[str, object] = {"states": findings, "steps": facts.to_json()}
    return plan.store.write(partition, first=plan.number, last=plan.number, block=block, facts=found)
