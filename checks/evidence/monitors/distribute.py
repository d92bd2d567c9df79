"""The monitors as a Spark job: each event goes to the partition of its channel, file or segment.

Monitors that have to see everything (a few events of the store, mostly) run in one task, at the same time as
the others. Only answers come back.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from functools import reduce
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from tidemark.checks.evidence.histories.judge import judge_history
from tidemark.checks.evidence.histories.operations import COLUMNS as HISTORY_COLUMNS
from tidemark.checks.evidence.histories.operations import KINDS as HISTORY_KINDS
from tidemark.checks.evidence.monitors.base import Answer, Monitor
from tidemark.checks.evidence.monitors.run import MONITORS, ORDERS, due, rows

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_ANSWER = "answer string"
_OF_HISTORIES = "histories"


def judge_frame(frame: DataFrame, *, parts: int) -> list[Answer]:
    """The answers about a Spark table of events, in the order of ``run.MONITORS``, histories last."""
    # Not by `groupBy`, which would shuffle into as many partitions as Spark has by default.
    present = {row["kind"] for row in frame.select("kind").mapInArrow(_kinds, "kind string").collect()}
    wanted = due(present)
    jobs = [_job(frame, group, parts=parts) for group in _groups(wanted)]
    if any(kind in present for kind in HISTORY_KINDS):
        jobs.append(_history_job(frame))
    if not jobs:
        return []
    found = [json.loads(row[0]) for row in reduce(lambda one, other: one.union(other), jobs).collect()]
    return _joined([Answer.from_dict(one) for one in found])


def _kinds(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    found: set[str] = set()
    for one in batches:
        found.update(one.column(0).unique().to_pylist())
    yield pa.RecordBatch.from_arrays([pa.array(sorted(found), pa.string())], names=["kind"])


def _groups(wanted: list[type[Monitor]]) -> list[list[type[Monitor]]]:
    """Monitors whose events are dealt out alike share a shuffle."""
    groups: dict[tuple[str, str], list[type[Monitor]]] = {}
    for one in wanted:
        groups.setdefault((one.by, one.within), []).append(one)
    return list(groups.values())


def _job(frame: DataFrame, group: list[type[Monitor]], *, parts: int) -> DataFrame:
    from pyspark.sql import functions as spark_functions

    kinds = sorted({kind for one in group for kind in one.kinds})
    columns = sorted({"kind", "source", "line", *(name for one in group for name in one.columns)})
    chosen = frame.where(spark_functions.col("kind").isin(kinds)).select(*columns)
    first = group[0]
    dealt = chosen.repartition(parts, first.by) if first.by else chosen.repartition(1)
    order = [
        spark_functions.col(name).asc() if direction == "ascending" else spark_functions.col(name).desc()
        for name, direction in ORDERS[first.within]
    ]
    return dealt.sortWithinPartitions(*order).mapInArrow(_monitoring(group), _ANSWER)


def _monitoring(group: list[type[Monitor]]) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    names = [one.name for one in group]

    def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        monitors = [one() for one in MONITORS if one.name in names]
        for one in batches:
            table = pa.Table.from_batches([one])
            for monitor in monitors:
                monitor.feed(rows(of_kinds(table, monitor.kinds), monitor.columns))
        yield _answers(monitor.close() for monitor in monitors)

    return run


def of_kinds(events: pa.Table, kinds: tuple[str, ...]) -> pa.Table:
    """The events of some kinds."""
    import pyarrow.compute as pc

    return events.filter(pc.is_in(events.column("kind"), value_set=pa.array(kinds)))


def _history_job(frame: DataFrame) -> DataFrame:
    from pyspark.sql import functions as spark_functions

    chosen = frame.where(spark_functions.col("kind").isin(list(HISTORY_KINDS))).select(*HISTORY_COLUMNS)
    return chosen.repartition(1).sortWithinPartitions("source", "line").mapInArrow(_judge_history, _ANSWER)


def _judge_history(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    events = list(batches)
    yield _answers(judge_history(pa.Table.from_batches(events)) if events else [])


def _answers(found: Any) -> pa.RecordBatch:
    texts = [json.dumps(answer.as_dict()) for answer in found]
    return pa.RecordBatch.from_arrays([pa.array(texts, pa.string())], names=["answer"])


def _joined(found: list[Answer]) -> list[Answer]:
    """One answer a monitor and claim, whatever the partitions were."""
    joined: dict[tuple[str, str], Answer] = {}
    for one in found:
        key = (one.monitor, one.property_id)
        if key in joined:
            joined[key].add(one)
        else:
            joined[key] = one
    places = {one.name: place for place, one in enumerate(MONITORS)}
    return sorted(joined.values(), key=lambda a: (places.get(a.monitor, len(places)), a.property_id))
