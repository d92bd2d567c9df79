"""Are the lines of a log in the order in which they were written? If not, which order is it?

Lines come newest first, block after block, or of several processes mixed. Stamps and names show it. The lines
of one process are out of order by some milliseconds too: a line is stamped before it is written. On the logs
of real servers (2.2 to 2.4) no line was more than 68 ms older than one before it. Where stamps go back by
more than that can explain, the lines are put in order if they come newest first, or in blocks whose times do
not overlap; else what depends on order is not judged. A single breach counts only if the lines show it in
every order that the stamps allow.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from tidemark.checks.evidence.monitors.base import SHOWN, Answer, Breach, Monitor
from tidemark.checks.evidence.monitors.run import MONITORS, ordered, rows
from tidemark.checks.evidence.readers.wrapped import files_of
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
_KINDS = tuple(sorted({kind for one in _BY_LINES.values() for kind in one.kinds} | {"session.put"}))

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
    arranged: dict[str, Arranged] = field(init=False)
    """Stream -> how its lines were put in order."""
    last: dict[tuple[str, str], int] = field(init=False)
    """Stream and kind -> the last line of that kind."""

    def __post_init__(self) -> None:
        lines = ordered(self.events.table("source", "line", "kind", "at", kinds=_KINDS), "source")
        latest = lines.group_by(["source", "kind"]).aggregate([("line", "max")]).to_pylist()
        self.last = {(one["source"], one["kind"]): one["line_max"] for one in latest}
        self.reasons, self.arranged = dict(_crowds(lines)), {}
        for stream, mine in _streams(lines):
            reason, arranged = _backwards(mine)
            if arranged is not None:
                self.arranged[stream] = arranged
            elif reason:
                self.reasons[stream] = f"{stream}: {reason}"
        for stream, reason in _names(self.events, lines, self.arranged).items():
            self.reasons[stream] = f"{stream}: {reason}"

    def settled(self, answer: Answer, monitor: type[Monitor]) -> Answer:
        """The answer without the streams that cannot bear it."""
        named = dict.fromkeys(sorted({stream for stream, kind in self.last if kind in monitor.kinds}))
        streams = {one: None for one in named if all((one, kind) in self.last for kind in monitor.needs)}
        doubtful = (
            {} if monitor.one_by_one else {one: why for one in streams if (why := self.reasons.get(one))}
        )
        for gap in self.gaps:
            touched = [one for one in streams if self._touches(gap, one, monitor)]
            doubtful |= {one: str(gap) for one in touched if one not in doubtful}
        sorted_ = {} if monitor.one_by_one else {s: a for s, a in self.arranged.items() if s in streams}
        if not (doubtful or sorted_) and (monitor.one_by_one or not answer.broken):
            return answer
        parts: list[pa.Table] = []
        sure: set[tuple[str, int]] = set()
        for stream, given in self._by_stream(monitor):
            if stream not in streams or (stream in doubtful and stream in self.reasons):
                continue
            mine = sorted_[stream].rows(given) if stream in sorted_ else given
            broken = _breaches(mine, monitor) if answer.broken or stream in sorted_ else set()
            if broken:
                shown, why = self._shown(stream, mine, monitor, broken)
                if why:
                    doubtful[stream] = why
                else:
                    doubtful.pop(stream, None)
                sure |= {(stream, line) for line in shown}
            if stream not in doubtful:
                parts.append(mine)
        joined = (
            _judged(pa.concat_tables(parts), monitor) if parts else Answer(monitor.name, monitor.property_id)
        )
        kept = [one for one in joined.breaches if (one.places[-1].source, one.places[-1].line) in sure]
        joined.broken -= len(joined.breaches) - len(kept)
        joined.breaches, joined.kept = [_as_given(one, sorted_) for one in kept[:SHOWN]], 0
        joined.left_out = list(dict.fromkeys(doubtful.values()))
        for stream, arranged in sorted_.items():
            if stream not in doubtful:
                joined.report(f"{stream} was sorted: {arranged.reason}.")
        return joined

    def _touches(self, gap: Gap, stream: str, monitor: type[Monitor]) -> bool:
        """Do damaged lines lie before what the monitor reads, or were they what it reads?"""
        if gap.source not in files_of(stream):
            return False
        last = max(
            line for (name, kind), line in self.last.items() if name == stream and kind in monitor.kinds
        )
        anywhere = stream in self.arranged
        return any(
            kind in monitor.kinds or (not kind and (anywhere or line < last)) for kind, line in gap.lost
        )

    def _by_stream(self, monitor: type[Monitor]) -> Iterator[tuple[str, pa.Table]]:
        columns = {"source", "line", "kind", "at", "ts", *monitor.columns}
        return _streams(ordered(self.events.table(*sorted(columns), kinds=monitor.kinds), "source"))

    def _shown(
        self, stream: str, lines: pa.Table, monitor: type[Monitor], broken: set[int]
    ) -> tuple[set[int], str]:
        """The lines whose breach shows that something is wrong; if there are none, why not."""
        for gap in self.gaps:
            lost = [kind for kind, _ in gap.lost if not kind or kind in monitor.excused_by]
            if lost and monitor.excused_by and gap.source in files_of(stream):
                return set(), str(gap)
        if not monitor.one_by_one:
            for order, numbers in _orders(lines):
                broken = broken & {int(numbers[number - 1]) for number in _breaches(order, monitor)}
        why = "its lines break the rule in their order, but not in another one that their stamps allow"
        return broken, "" if broken else f"{stream}: {why}"


def _streams(lines: pa.Table) -> Iterator[tuple[str, pa.Table]]:
    """The lines of each stream, of lines in the order of their streams."""
    place = 0
    for one in lines.column("source").value_counts().to_pylist():
        yield one["values"], lines.slice(place, one["counts"])
        place += one["counts"]


def _judged(lines: pa.Table, kind: type[Monitor]) -> Answer:
    """The answer, with many more breaches than are shown."""
    monitor = kind()
    monitor.answer.kept = _COMPARED
    monitor.feed(rows(ordered(lines, kind.within), kind.columns))
    return monitor.close()


def _breaches(lines: pa.Table, monitor: type[Monitor]) -> set[int]:
    return {one.places[-1].line for one in _judged(lines, monitor).breaches}


def _as_given(breach: Breach, arranged: Mapping[str, Arranged]) -> Breach:
    """The breach with the numbers that the lines have in the file."""
    places = (
        replace(place, line=arranged[place.source].given(place.line)) if place.source in arranged else place
        for place in breach.places
    )
    return replace(breach, places=tuple(places))


@dataclass(frozen=True)
class Arranged:
    """A stream whose lines are not in order, and the order that they have by their stamps."""

    reason: str
    order: Ints
    """Numbers of the lines, in their order."""

    def rows(self, lines: pa.Table) -> pa.Table:
        """Some of the lines, numbered anew, in order."""
        by_line = np.argsort(self.order, kind="stable")
        place = np.searchsorted(self.order, lines.column("line").to_numpy(), sorter=by_line)
        return _numbered(lines, by_line[place] + 1).sort_by("line")

    def given(self, place: int) -> int:
        """The number that a line has in the file."""
        return int(self.order[place - 1])


def _numbered(lines: pa.Table, numbers: Ints) -> pa.Table:
    place = lines.column_names.index("line")
    return lines.set_column(place, lines.schema.field(place), pa.array(numbers, pa.int64()))


def _orders(lines: pa.Table) -> Iterator[tuple[pa.Table, Ints]]:
    """The lines by their stamps; those of one millisecond in the order of the file, in the opposite one, and
    in that of the timestamps that they carry. With each order the numbers that its lines have.
    """
    stamps, marks, kinds = (lines.column(name).to_pylist() for name in ("at", "ts", "kind"))
    numbers = lines.column("line").to_numpy()
    placed = [
        (at or 0, ts or 0, _FIRST.get(kind, 1)) for at, ts, kind in zip(stamps, marks, kinds, strict=True)
    ]
    rows = range(len(placed))
    for ranked in (
        sorted(rows, key=lambda row: (placed[row][0], row)),
        sorted(rows, key=lambda row: (placed[row][0], -row)),
        sorted(rows, key=lambda row: (*placed[row], row)),
    ):
        yield _numbered(lines.take(ranked), np.arange(1, len(ranked) + 1)), numbers[ranked]


def _backwards(lines: pa.Table) -> tuple[str, Arranged | None]:
    """How many stamps go back, and by how much, if those of one process do not go back so far; and the order
    of the lines, if it can be told.
    """
    known = lines.filter(pc.is_valid(lines.column("at")))
    stamps: Ints = known.column("at").to_numpy()
    if len(stamps) < 2:
        return "", None
    steps = np.diff(stamps)
    back = np.flatnonzero(steps < 0)
    below = np.maximum.accumulate(stamps) - stamps
    newest_first = len(back) > 1 and len(back) > int((steps > 0).sum())
    if not newest_first and below.max() <= TOLERANCE:
        return "", None
    numbers: Ints = known.column("line").to_numpy()
    reason = (
        f"{int((below > 0).sum())} of {len(stamps)} lines are older than a line before them, by up to "
        f"{below.max() / 1000:.3f} s, from line {numbers[int(back[0]) + 1]} on: "
    )
    order = _newest_first(stamps) if newest_first else _blocks(stamps)
    if order is None or len(known) < len(lines):
        return f"{reason}newest first, or several logs in one", None
    what = "newest first" if newest_first else "later blocks before earlier ones"
    return "", Arranged(f"{reason}{what}", numbers[order])


def _newest_first(stamps: Ints) -> Ints | None:
    """The opposite order, if stamps are then as those of one process are."""
    opposite = stamps[::-1]
    in_order = (np.maximum.accumulate(opposite) - opposite).max() <= TOLERANCE
    return np.arange(len(stamps))[::-1] if in_order else None


def _blocks(stamps: Ints) -> Ints | None:
    """Blocks of lines in order, by their times, if no two blocks overlap."""
    begins = [0]
    latest = stamps[0]
    for place, stamp in enumerate(stamps.tolist()):
        if stamp < latest - TOLERANCE:
            begins.append(place)
            latest = stamp
        latest = max(latest, stamp)
    parts = np.split(np.arange(len(stamps)), begins[1:])
    parts.sort(key=lambda part: int(stamps[part[0]]))
    apart = all(stamps[one].max() - stamps[two].min() <= TOLERANCE for one, two in pairwise(parts))
    return np.concatenate(parts) if apart else None


def _names(events: Events, lines: pa.Table, arranged: Mapping[str, Arranged]) -> dict[str, str]:
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
    sessions = _arranged(events.table(*columns, kinds=("server.start", "session.put")), arranged)
    known: dict[str, _Processes] = {}
    for source, line, kind, key, node in rows(sessions, columns):
        mine = known.setdefault(source, _Processes())
        if kind == "server.start":
            mine.start(line)
        elif reason := mine.session(line, key, node):
            found.setdefault(source, f"two processes write it: {reason}")
    at_work = _arranged(lines.filter(pc.is_in(lines.column("kind"), value_set=pa.array(_WORK))), arranged)
    for source, mine in known.items():
        work = at_work.filter(pc.equal(at_work.column("source"), source)).column("line").to_numpy()
        for start, session in mine.starting:
            early = work[(work > start) & (work < session)]
            if len(early):
                reason = f"line {early[0]} is not of the one that starts in line {start}"
                found.setdefault(source, f"two processes write it: {reason}")
    found = _replicas(events, arranged) | found
    counted = ", lines counted as their stamps sort them"
    return {stream: reason + counted * (stream in arranged) for stream, reason in found.items()}


def _arranged(lines: pa.Table, arranged: Mapping[str, Arranged]) -> pa.Table:
    """The lines of all streams in order."""
    sources = lines.column("source")
    parts = [one.rows(lines.filter(pc.equal(sources, stream))) for stream, one in arranged.items()]
    others = pc.invert(pc.is_in(sources, value_set=pa.array(list(arranged), pa.string())))
    return pa.concat_tables([ordered(lines.filter(others), "source"), *parts])


def _replicas(events: Events, arranged: Mapping[str, Arranged]) -> dict[str, str]:
    """Streams in which a channel is served by two replicas in turn: by two query nodes."""
    found: dict[str, str] = {}
    columns = ("source", "line", "channel", "key")
    earlier: dict[tuple[str, str], list[str]] = {}
    for source, line, channel, replica in rows(
        _arranged(events.table(*columns, kinds=("tsafe.next",)), arranged), columns
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
