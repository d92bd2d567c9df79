"""Are the lines of a log in the order in which they were written? If not, what depends on it is not judged.

Lines come newest first, block after block, or of several processes mixed. Stamps and names show it. The lines
of one process are out of order by some milliseconds too: a line is stamped before it is written. On the logs
of real servers (2.2 to 2.4) no line was more than 68 ms older than one before it. So a file is left out as a
whole where its stamps go back by more than that can explain; and a single breach counts only if the lines
show it in every order that the stamps allow.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from tidemark.checks.evidence.monitors.base import SHOWN, Answer, Monitor
from tidemark.checks.evidence.monitors.run import MONITORS, ordered, rows
from tidemark.checks.evidence.readers.prefixes import in_file
from tidemark.checks.evidence.table.events import Events
from tidemark.checks.evidence.table.whole import Gap, cluster_of

TOLERANCE = 200
"""Milliseconds by which a line may be older than one before it: three times what was seen on real logs."""
_COMPARED = 10_000
"""So many breaches of a file are compared in different orders."""
_FIRST = {"server.start": 0, "checkpoint.store": 0, "seek.pipeline": 0}
"""Of two lines with equal timestamps the one that the other follows from."""
_STREAMS = 8
"""So many names before the lines of a file may be as many as every second line has."""

_BY_LINES = {one.name: one for one in MONITORS if one.within == "source"}
_KINDS = tuple(sorted({kind for one in _BY_LINES.values() for kind in one.kinds}))

_WORK = tuple(
    kind for kind in _KINDS if kind.partition(".")[0] in ("fetch", "tsafe", "checkpoint", "sync", "save")
)
"""Kinds of event of a process that has its session."""

Ints = npt.NDArray[np.int64]


def settle(answers: Iterable[Answer], events: Events, gaps: Sequence[Gap]) -> list[Answer]:
    """The answers, those about logs without the files whose order or completeness does not bear them."""
    settled = list(answers)
    if not any(answer.monitor in _BY_LINES for answer in settled):
        return settled
    logs = _Logs(events, [gap for gap in gaps if gap.family == "log"])
    return [
        logs.settled(answer, _BY_LINES[answer.monitor]) if answer.monitor in _BY_LINES else answer
        for answer in settled
    ]


@dataclass
class _Logs:
    """The events of all logs, and what is wrong with each stream of lines."""

    events: Events
    gaps: Sequence[Gap]
    reasons: dict[str, str] = field(init=False)
    """Stream -> why its order is not known."""
    last: dict[tuple[str, str], int] = field(init=False)
    """Stream and kind -> the last line of that kind."""

    def __post_init__(self) -> None:
        lines = ordered(self.events.table("source", "line", "kind", "at", kinds=_KINDS), "source")
        latest = lines.group_by(["source", "kind"]).aggregate([("line", "max")]).to_pylist()
        self.last = {(one["source"], one["kind"]): one["line_max"] for one in latest}
        self.reasons = dict(_crowds(lines))
        names = _names(self.events, lines)
        place = 0
        for one in lines.column("source").value_counts().to_pylist():  # in the order of the lines
            stream, count = one["values"], one["counts"]
            reason = names.get(stream) or _backwards(lines.slice(place, count))
            place += count
            if reason:
                self.reasons[stream] = f"{stream}: {reason}"

    def settled(self, answer: Answer, monitor: type[Monitor]) -> Answer:
        """The answer without the streams that cannot bear it."""
        streams = sorted({stream for stream, kind in self.last if kind in monitor.kinds})
        streams = [one for one in streams if all((one, kind) in self.last for kind in monitor.needs)]
        doubtful = (
            {} if monitor.one_by_one else {one: why for one in streams if (why := self.reasons.get(one))}
        )
        for gap in self.gaps:
            touched = [one for one in streams if self._touches(gap, one, monitor)]
            doubtful |= {one: str(gap) for one in touched if one not in doubtful}
        if not doubtful and (monitor.one_by_one or not answer.broken):
            return answer
        parts: list[pa.Table] = []
        sure: set[tuple[str, int]] = set()
        for stream in streams:
            if stream in doubtful and stream in self.reasons:
                continue
            mine = self._of(stream, monitor)
            broken = _breaches(mine, monitor)
            if broken:
                shown, why = self._shown(stream, mine, monitor, broken)
                if why:
                    doubtful[stream] = why
                else:
                    doubtful.pop(stream, None)
                sure |= {(stream, line) for line in shown}
            if stream not in doubtful:
                parts.append(mine)
        joined = _judged(pa.concat_tables(parts), monitor) if parts else _nothing(monitor)
        kept = [one for one in joined.breaches if (one.places[-1].source, one.places[-1].line) in sure]
        joined.broken -= len(joined.breaches) - len(kept)
        joined.breaches, joined.kept = kept[:SHOWN], 0
        joined.left_out = list(dict.fromkeys(doubtful.values()))
        return joined

    def _touches(self, gap: Gap, stream: str, monitor: type[Monitor]) -> bool:
        """Do damaged lines lie before what the monitor reads, or were they what it reads?"""
        if not in_file(stream, gap.source):
            return False
        last = max(
            line for (name, kind), line in self.last.items() if name == stream and kind in monitor.kinds
        )
        return any(kind in monitor.kinds or (not kind and line < last) for kind, line in gap.lost)

    def _of(self, stream: str, monitor: type[Monitor]) -> pa.Table:
        columns = {"source", "line", "kind", "at", "ts", *monitor.columns}
        return self.events.table(*sorted(columns), kinds=monitor.kinds, where=pc.field("source") == stream)

    def _shown(
        self, stream: str, lines: pa.Table, monitor: type[Monitor], broken: set[int]
    ) -> tuple[set[int], str]:
        """The lines whose breach shows that something is wrong; if there are none, why not."""
        for gap in self.gaps:
            lost = [kind for kind, _ in gap.lost if not kind or kind in monitor.excused_by]
            if lost and monitor.excused_by and in_file(stream, gap.source):
                return set(), str(gap)
        if not monitor.one_by_one:
            for order, numbers in _orders(lines):
                broken = broken & {numbers[number] for number in _breaches(order, monitor)}
        why = "its lines break the rule in their order, but not in another one that their stamps allow"
        return broken, "" if broken else f"{stream}: {why}"


def _nothing(monitor: type[Monitor]) -> Answer:
    return Answer(monitor.name, monitor.property_id)


def _judged(lines: pa.Table, kind: type[Monitor]) -> Answer:
    """The answer, with many more breaches than are shown."""
    monitor = kind()
    monitor.answer.kept = _COMPARED
    monitor.feed(rows(ordered(lines, kind.within), kind.columns))
    return monitor.close()


def _breaches(lines: pa.Table, monitor: type[Monitor]) -> set[int]:
    return {one.places[-1].line for one in _judged(lines, monitor).breaches}


def _orders(lines: pa.Table) -> Iterator[tuple[pa.Table, dict[int, int]]]:
    """The lines by their stamps; those of one millisecond in the order of the file, in the opposite one, and
    in that of the timestamps that they carry. With each order: new number of a line -> the number it has.
    """
    columns = [lines.column(name).to_pylist() for name in ("line", "at", "ts", "kind")]
    placed = {
        line: (at or 0, ts or 0, _FIRST.get(kind, 1)) for line, at, ts, kind in zip(*columns, strict=True)
    }
    for ranked in (
        sorted(placed, key=lambda line: (placed[line][0], line)),
        sorted(placed, key=lambda line: (placed[line][0], -line)),
        sorted(placed, key=lambda line: (*placed[line], line)),
    ):
        rank = {line: number for number, line in enumerate(ranked, 1)}
        numbers = pa.array([rank[line] for line in columns[0]], pa.int64())
        renumbered = lines.set_column(lines.column_names.index("line"), "line", numbers)
        yield renumbered, dict(enumerate(ranked, 1))


def _backwards(lines: pa.Table) -> str:
    """How many stamps go back, and by how much, if those of one process do not go back so far."""
    known = lines.filter(pc.is_valid(lines.column("at")))
    stamps: Ints = known.column("at").to_numpy()
    if len(stamps) < 2:
        return ""
    steps = np.diff(stamps)
    back = np.flatnonzero(steps < 0)
    below = np.maximum.accumulate(stamps) - stamps
    newest_first = len(back) > 1 and len(back) > int((steps > 0).sum())
    if not newest_first and below.max() <= TOLERANCE:
        return ""
    first = known.column("line")[int(back[0]) + 1].as_py()
    older = int((below > 0).sum())
    return (
        f"{older} of {len(stamps)} lines are older than a line before them, by up to "
        f"{below.max() / 1000:.3f} s, from line {first} on: newest first, or several logs in one"
    )


def _names(events: Events, lines: pa.Table) -> dict[str, str]:
    """Streams whose lines name two processes, or two clusters, and which."""
    found: dict[str, str] = {}
    clusters: dict[str, set[str]] = {}
    for source, channel in events.distinct("source", "channel", kinds=_KINDS):
        if name := cluster_of(channel):
            clusters.setdefault(str(source), set()).add(name)
    for stream, names in clusters.items():
        if len(names) > 1:
            found[stream] = f"its channels are of {len(names)} clusters: {', '.join(sorted(names))}"
    columns = ("source", "line", "kind", "key", "node")
    sessions = ordered(events.table(*columns, kinds=("server.start", "session.put")), "source")
    known: dict[str, _Processes] = {}
    for source, line, kind, key, node in rows(sessions, columns):
        mine = known.setdefault(source, _Processes())
        if kind == "server.start":
            mine.start(line)
        elif reason := mine.session(line, key, node):
            found.setdefault(source, f"two processes write it: {reason}")
    at_work = lines.filter(pc.is_in(lines.column("kind"), value_set=pa.array(_WORK)))
    for source, mine in known.items():
        work = at_work.filter(pc.equal(at_work.column("source"), source)).column("line").to_numpy()
        for start, session in mine.starting:
            early = work[(work > start) & (work < session)]
            if len(early):
                reason = f"line {early[0]} is not of the one that starts in line {start}"
                found.setdefault(source, f"two processes write it: {reason}")
    return _replicas(events) | found


def _replicas(events: Events) -> dict[str, str]:
    """Streams in which a channel is served by two replicas in turn: by two query nodes."""
    found: dict[str, str] = {}
    columns = ("source", "line", "channel", "key")
    earlier: dict[tuple[str, str], list[str]] = {}
    for source, line, channel, replica in rows(
        ordered(events.table(*columns, kinds=("tsafe.next",)), "source"), columns
    ):
        seen = earlier.setdefault((source, channel), [])
        if replica is None or seen[-1:] == [replica]:
            continue
        if replica in seen:
            what = f"replicas {seen[-1]} and {replica} serve {channel} in turn, in line {line} again"
            found.setdefault(source, f"two processes write it: {what}")
        seen.append(replica)
    return found


@dataclass
class _Processes:
    """The processes that write one stream: one after the other, unless their lines are mixed."""

    starting: list[tuple[int, int]] = field(default_factory=list)
    """Lines of a start and of the first session after it: before that a process does no work."""
    starts: list[int] = field(default_factory=list)
    """Lines of starts since the last session."""
    now: dict[str, tuple[str, int]] = field(default_factory=dict)
    """Role -> server id and line of its session, of the process that started last."""
    before: dict[str, int] = field(default_factory=dict)
    """Server ids of the earlier ones, with a line."""
    together: list[int] = field(default_factory=list)
    """Lines of starts between which no process had a session."""

    def start(self, line: int) -> None:
        """A process starts."""
        self.before |= dict(self.now.values())
        self.now = {}
        self.starts.append(line)

    def session(self, line: int, key: str, node: str | None) -> str:
        """A process names itself; why it cannot be the one that started last, empty if it can."""
        role, _, number = key.rpartition("/")[2].partition("-")
        server = node or number
        if self.starts:
            self.starting.append((self.starts[-1], line))
            self.together, self.starts = self.starts, []
        others = {other: place for other, place in self.now.values() if other != server}
        same = self.now.setdefault(role, (server, line))
        if same[0] != server:
            return f"{role} is server {same[0]} in line {same[1]}, and server {server} in line {line}"
        if others and server in self.before:
            return f"server {server} of line {self.before[server]} is there again in line {line}"
        if others and len(self.together) > 1:
            return f"two start before server {server} of line {line} and another one have their sessions"
        return ""


def _crowds(lines: pa.Table) -> Iterator[tuple[str, str]]:
    """Streams of files in which the prefix of about each line differs: then it does not name who writes."""
    counted = lines.group_by("source").aggregate([("line", "count")]).to_pylist()
    files: dict[str, list[tuple[str, int]]] = {}
    for one in counted:
        name, mark, _ = one["source"].partition(" (")
        if mark:
            files.setdefault(name, []).append((one["source"], one["line_count"]))
    for name, streams in files.items():
        if len(streams) > _STREAMS and 2 * len(streams) > sum(count for _, count in streams):
            for stream, _ in streams:
                yield stream, f"{name}: the prefixes of its lines are {len(streams)} different ones"
