"""From the live objects of a proxy, and of the log that it writes to, to the state of
``tidemark.spec.proxy``.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from tidemark.impl.proxy.proxy import Proxy
from tidemark.impl.proxy.statistics import Tracked
from tidemark.impl.proxy.values import AppendOutcome, DmlTask
from tidemark.impl.values.report import TimeTickReport
from tidemark.models.refinement.origins import Environment

ChannelTs = tuple[str, int]
"""A channel and a timestamp: what names a message in the logs."""


class TaskView(NamedTuple):
    """One task. ``unknown``: channels for which it does not know what became of its message."""

    phase: str
    floor: int
    ts: int
    committed: bool
    unknown: tuple[str, ...]


class ChannelView(NamedTuple):
    """One channel of the statistics."""

    channel: str
    min_ts: int
    max_ts: int
    tracked: tuple[int, ...]


@dataclass(frozen=True)
class TickerView:
    """The ticker. ``followed``: (channel, published, current)."""

    stage: str
    now: int
    floor: int
    snapshot: tuple[tuple[str, int, int], ...]
    followed: tuple[tuple[str, int, int], ...]
    default: int


@dataclass(frozen=True)
class ProxyView:
    """One proxy."""

    tasks: tuple[TaskView, ...]
    statistics: tuple[ChannelView, ...]
    ticker: TickerView
    reported: tuple[tuple[ChannelTs, ...], int] | None
    """Values by channel and the default of the last report."""


@dataclass(frozen=True)
class LogView:
    """The logs of all channels: what they have, and what they have promised to refuse."""

    appended: tuple[ChannelTs, ...]
    refused: tuple[ChannelTs, ...]


def proxy_view(
    proxy: Proxy,
    tasks: Sequence[DmlTask],
    *,
    floors: Sequence[int],
    now_floor: int,
    reported: TimeTickReport | None,
) -> ProxyView:
    """The picture of a proxy.

    floors, now_floor: the greatest timestamp that was answered when a task, or the ticker, asked; 0 if it
    does not wait for an answer.
    """
    statistics = proxy.queue.statistics
    ticker = proxy.ticker
    return ProxyView(
        tasks=tuple(
            TaskView(task.phase.value, floors[place], task.ts, task.committed, _unknown(task))
            for place, task in enumerate(tasks)
        ),
        statistics=tuple(
            ChannelView(name, statistics.least(_copy(entry)), entry.max_ts, tuple(sorted(entry.timestamps)))
            for name, entry in sorted(statistics.channels.items())
        ),
        ticker=TickerView(
            stage=ticker.stage.value,
            now=ticker.now,
            floor=now_floor,
            snapshot=tuple(
                (name, span.min_ts, span.max_ts) for name, span in sorted(ticker.snapshot.items())
            ),
            followed=tuple(
                (name, value, ticker.current[name]) for name, value in sorted(ticker.published.items())
            ),
            default=ticker.default,
        ),
        reported=None if reported is None else (reported.channels, reported.default),
    )


def _copy(entry: Tracked) -> Tracked:
    """A copy to look at: finding the least timestamp tidies the heap up."""
    return replace(entry, timestamps=set(entry.timestamps), heap=list(entry.heap))


def _unknown(task: DmlTask) -> tuple[str, ...]:
    return tuple(c for c, outcome in sorted(task.outcomes.items()) if outcome is AppendOutcome.UNKNOWN)


def abstract(
    proxy: ProxyView, log: LogView, answered: tuple[int, ...], *, channels: Sequence[str], last: int
) -> dict[str, Any]:
    """The state of ``tidemark.spec.proxy``, by variable name.

    answered: timestamps given to anybody. channels: names in the order of the specification's elements.
    last: the greatest timestamp of the instance.
    """
    return {
        "issued": max(answered, default=0),
        **_tasks(proxy, log, channels),
        **_statistics(proxy, channels, last),
        **_ticker(proxy.ticker, channels),
        "reported": {place: _reported(proxy.reported, channel) for place, channel in enumerate(channels)},
    }


def _tasks(proxy: ProxyView, log: LogView, channels: Sequence[str]) -> dict[str, Any]:
    every = range(len(proxy.tasks))
    return {
        "phase": {t: proxy.tasks[t].phase for t in every},
        "floor": {t: proxy.tasks[t].floor for t in every},
        "ts": {t: proxy.tasks[t].ts for t in every},
        "committed": {t: proxy.tasks[t].committed for t in every},
        "appended": {
            (t, place): (channel, proxy.tasks[t].ts) in log.appended
            for t in every
            for place, channel in enumerate(channels)
        },
        "unknown": {
            (t, place): channel in proxy.tasks[t].unknown
            and (channel, proxy.tasks[t].ts) not in log.appended + log.refused
            for t in every
            for place, channel in enumerate(channels)
        },
    }


def _statistics(proxy: ProxyView, channels: Sequence[str], last: int) -> dict[str, Any]:
    found = {view.channel: view for view in proxy.statistics}
    nothing = ChannelView("", 0, 0, ())
    views = {place: found.get(channel, nothing) for place, channel in enumerate(channels)}
    return {
        "present": {c: channel in found for c, channel in enumerate(channels)},
        "min_ts": {c: view.min_ts for c, view in views.items()},
        "max_ts": {c: view.max_ts for c, view in views.items()},
        "tracked": {(c, ts): ts in view.tracked for c, view in views.items() for ts in range(last + 1)},
    }


def _ticker(ticker: TickerView, channels: Sequence[str]) -> dict[str, Any]:
    taken = {name: (low, high) for name, low, high in ticker.snapshot}
    followed = {name: (value, gate) for name, value, gate in ticker.followed}
    every = list(enumerate(channels))
    return {
        "tick": ticker.stage,
        "now": ticker.now,
        "now_floor": ticker.floor,
        "snap_present": {c: name in taken for c, name in every},
        "snap_min": {c: taken.get(name, (0, 0))[0] for c, name in every},
        "snap_max": {c: taken.get(name, (0, 0))[1] for c, name in every},
        "follows": {c: name in followed for c, name in every},
        "published": {c: followed.get(name, (0, 0))[0] for c, name in every},
        "current": {c: followed.get(name, (0, 0))[1] for c, name in every},
        "default": ticker.default,
    }


def _reported(report: tuple[tuple[ChannelTs, ...], int] | None, channel: str) -> int:
    return 0 if report is None else dict(report[0]).get(channel, report[1])


ENVIRONMENT = Environment(
    "spec/proxy:Proxy",
    {
        "issued": "the oracle is a counter of the simulated world: what it has answered to anybody",
        "floor, now_floor": (
            "a history: what the oracle had answered when the question was asked; nobody keeps it"
        ),
        "appended": "the log; ChannelLog.entries where the broker's own log is under the proxy",
        "unknown": "whether the log has the message, or has ruled it out",
        "reported": "the last report that was sent: the coordinator is simulated",
    },
)
"""What is not read from the implementation, and why."""
