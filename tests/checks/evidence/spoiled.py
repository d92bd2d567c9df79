"""Sound runs of a small simulated cluster; what spoils the form of their evidence, and what its content.

    python -m tests.checks.evidence.spoiled 10000

tries so many cases and prints each for which the verdict is wrong.
"""

import json
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

from tests.checks.evidence import parts
from tests.checks.evidence.forms import FORMS, PACKED, archived, text, zipped
from tests.checks.evidence.parts import line, message, op, ts
from tidemark.checks.evidence.judge import judge_evidence, verdicts
from tidemark.checks.evidence.table.files import find
from tidemark.checks.evidence.table.plain import gather
from tidemark.checks.verdicts.verdict import Outcome

OTHER = f"{parts.CHANNEL}_100v1"
NODE = "datanode/flow_graph_time_tick_node.go:142"


def answered(ms: int, at: int, channel: str = parts.SHARD) -> str:
    return line(ms, NODE, "UpdateChannelCheckpoint success", channel=channel, cpTs=at, cpTime=parts.stamp(ms))


def consumed(ms: int, at: int) -> str:
    channel = f"{parts.CHANNEL}:rw@3"
    caller, message = "recovery/recovery_background_task.go:84", "persist dirty snapshot"
    return line(ms, caller, message, "DEBUG", channel=channel, checkpoint="7/3", checkpointTimeTick=at)


def sought(ms: int, at: int, channel: str = parts.SHARD) -> str:
    message = "channel seek position set from channel checkpoint meta"
    return line(ms, "datacoord/handler.go:258", message, channel=channel, posTs=at, posTime=parts.stamp(ms))


def served(ms: int, at: int, channel: str = parts.SHARD) -> str:
    return line(
        ms, "delegator/delegator_data.go:156", "start to process delete", "DEBUG", channel=channel, ts=at
    )


def proxy(ms: int, what: str, node: int) -> str:
    return line(ms, "rootcoord/timeticksync.go:233", f"{what} timeticksync", serverID=node)


def saved(ms: int, segment: int, at: int, rows: int, flush: str = "false") -> str:
    points = f'[{{"segmentID":{segment},"position":{{"timestamp":{at}}},"num_of_rows":{rows}}}]'
    return line(
        ms, "datacoord/services.go:524", "receive SaveBinlogPaths request",
        nodeID=5, collectionID=100, segmentID=segment, isFlush=flush, checkpoints=points,
    )  # fmt: skip


def began(ms: int, server: int) -> list[str]:
    value = f'{{"ServerID":{server},"Version":"2.3.5"}}'
    return [
        line(ms, "roles/roles.go:306", "starting running Milvus components"),
        line(ms + 1, "sessionutil/session_util.go:462", "put session key into etcd",
             key="by-dev/meta/session/rootcoord", value=value),
    ]  # fmt: skip


@dataclass
class Times:
    """Moments that only grow, now and then by nothing."""

    random: Random
    now: int
    step: int
    """Milliseconds of the longer pauses."""

    def next(self) -> int:
        self.now += self.random.choice((0, 1, self.step))
        return self.now


def log(seed: int, *, begin: int = 0, step: int = 40, server: int = 1) -> list[str]:
    """Entries of one sound process: checkpoints are stored, then answered; rows come above them."""
    random = Random(seed)
    times = Times(random, begin, step)
    lines = began(begin, server)
    times.now += 2
    for round_ in range(random.randint(2, 6)):
        channel, segment = random.choice(((parts.SHARD, 7), (OTHER, 8)))
        mark = ts(times.now)
        lines += [parts.stored(times.next(), mark, channel), answered(times.next(), mark, channel)]
        lines += [parts.buffer(times.next(), segment, channel), sought(times.next(), mark, channel)]
        lines += [parts.fetched(times.next(), segment, mark + 5), served(times.next(), mark + 9, channel)]
        lines += [
            saved(times.next(), segment, mark + 5, 3 * round_),
            proxy(times.next(), "Add session for", 10 + round_),
        ]
        lines += [proxy(times.next(), "Remove session from", 10 + round_), consumed(times.next(), mark)]
        if random.random() < 0.3:
            stack = line(times.next(), "proxy/impl.go:9", "failed", "WARN", error="a")
            lines.append(f"{stack[:-2]}\ngoroutine 7\n\tproxy/impl.go:9]")
        times.now += step
    return lines


def of_caller(entry: str, *folders: str) -> bool:
    return any(f"[{folder}/" in entry for folder in folders)


def merged(streams: list[list[str]], random: Random) -> list[str]:
    """Lines of several writers as they arrive: each in its own order."""
    waiting = [list(stream) for stream in streams]
    found: list[str] = []
    while any(waiting):
        ready = [one for one in waiting if one]
        first = min(ready, key=lambda one: (one[0].partition("[2")[2][:25], random.random()))
        found.append(first.pop(0))
    return found


def newest_first(lines: list[str], _random: Random) -> list[str]:
    return lines[::-1]


def reversed_physically(lines: list[str], _random: Random) -> list[str]:
    """As ``tac`` gives it: the further lines of an entry stand before it."""
    return "\n".join(lines).split("\n")[::-1]


def partly_newest_first(lines: list[str], random: Random) -> list[str]:
    first = random.randrange(len(lines))
    last = random.randrange(first, len(lines)) + 1
    return lines[:first] + lines[first:last][::-1] + lines[last:]


def older_part_last(lines: list[str], random: Random) -> list[str]:
    middle = random.randrange(len(lines))
    return lines[middle:] + lines[:middle]


def sorted_by_text(lines: list[str], _random: Random) -> list[str]:
    """As ``sort`` gives it: lines of one millisecond change places."""
    return sorted(lines)


def some_out_of_place(lines: list[str], random: Random) -> list[str]:
    moved = list(lines)
    for _ in range(random.randint(1, 4)):
        moved.insert(random.randrange(len(moved)), moved.pop(random.randrange(len(moved))))
    return moved


def one_cut(lines: list[str], random: Random) -> list[str]:
    chosen = random.randrange(len(lines))
    kept = random.randrange(1, len(lines[chosen]))
    return [entry[:kept] if number == chosen else entry for number, entry in enumerate(lines)]


def pods(lines: list[str], random: Random) -> list[str]:
    """Coordinator and nodes are pods of their own; the collector names them."""
    coordinator = [one for one in lines if of_caller(one, "datacoord", "rootcoord", "roles", "sessionutil")]
    nodes = [one for one in lines if one not in coordinator]
    form = random.choice(("[pod/m-{}-0/{}] ", "m-{}-0 {} ", "{}-1  | ", "logs/{}.log:"))
    named = [
        [form.format(name, name) + entry for entry in stream]
        for name, stream in (("mixcoord", coordinator), ("node", nodes))
    ]
    return merged(named, random)


def pods_without_names(lines: list[str], random: Random) -> list[str]:
    """The same, and the collector names nobody; their lines arrive some milliseconds apart."""
    moved = list(lines)
    for place in range(2, len(moved) - 1):  # a start takes longer than that
        if random.random() < 0.4:
            moved[place], moved[place + 1] = moved[place + 1], moved[place]
    return moved


def in_json(lines: list[str], _random: Random) -> list[str]:
    return [json.dumps({"log": f"{entry}\n", "stream": "stdout"}) for entry in lines]


def in_an_archive(lines: list[str], random: Random) -> list[str]:
    """Members of a tar file one after the other: a block of bytes before each."""
    middle = random.randrange(len(lines))
    head = "milvus/a.log" + "\0" * 245 + "ustar  " + "\0" * 200
    parts_ = (lines[middle:], lines[:middle])
    return [(head if not number else "") + entry for part in parts_ for number, entry in enumerate(part)]


def times_before(lines: list[str], random: Random) -> list[str]:
    """What Loki, CRI, grep and Docker put before each line."""
    form = random.choice((
        "2025-07-18 12:46:34.{:03}\t", "2023-07-17T16:49:21.144{:06}+08:00 stdout F ", "{}:",
        "milvus-standalone  | ", "\x1b[36mmilvus |\x1b[0m ", "Nov 26 17:16:00 host milvus[7]: ",
    ))  # fmt: skip
    return [form.format(number) + entry for number, entry in enumerate(lines)]


@dataclass
class Run:
    """What a cluster leaves behind, and what there is at its end: moment, term, segment, rows."""

    random: Random
    step: int
    log: list[str] = field(default_factory=list)
    wal: list[str] = field(default_factory=list)
    store: list[dict[str, Any]] = field(default_factory=list)
    broker: list[dict[str, Any]] = field(default_factory=list)
    client: list[dict[str, Any]] = field(default_factory=list)
    now: int = 0
    term: int = 1
    segment: int = 7
    rows: set[int] = field(default_factory=set)
    recorded: Counter[int] = field(default_factory=Counter)

    def lines(self, part: str) -> list[Any]:
        """The lines of one kind of evidence."""
        found: list[Any] = getattr(self, part)
        return found

    def wait(self) -> int:
        """A later moment."""
        self.now += 20 + self.random.choice((0, 1, self.step))
        return self.now

    def put(self, *changes: Callable[[int], dict[str, Any]]) -> None:
        """The store takes changes, a revision each."""
        for change in changes:
            self.store.append(change(len(self.store) + 2))

    def say(self, kind: str, at: int, **rest: Any) -> int:
        """A message stands in the log; its place."""
        place = len(self.broker)
        self.broker.append(message(place, kind, at, **rest))
        self.wal.append(appended(self.now, f"7/{place}", _OF_WAL[kind], at, self.term))
        return place

    def ask(self, what: str, start: int, **rest: Any) -> None:
        """A client's operation."""
        self.client.append(op(len(self.client), what, start, end=start + 5, **rest))


_OF_WAL = {"tick": "TIME_TICK", "insert": "INSERT", "delete": "DELETE"}


def appended(ms: int, number: str, what: str, at: int, term: int = 8) -> str:
    return line(
        ms, "metricsutil/wal_write.go:109", "append message into wal", "DEBUG",
        channel=f"{parts.CHANNEL}:rw@{term}", message=f"{{type={what},vchannel=v,size=17}}",
        messageID=number, timetick=at,
    )  # fmt: skip


def cluster(seed: int, step: int) -> Run:
    """A sound run: rows are written, ticked, synced, flushed, read; the streaming node's term may change."""
    run = Run(Random(seed), step, log(seed, step=step))
    random = run.random
    run.put(lambda rev: parts.session(rev, "rootcoord", 1), lambda rev: parts.window(rev, 3000))
    run.put(parts.mark, lambda rev: parts.collection(rev, 100, parts.SHARD, at=ts(50)))
    for round_ in range(random.randint(2, 6)):
        at = ts(run.wait(), 1)
        fresh = [[100 * round_, 100 * round_ + random.randint(0, 9)]]
        run.put(lambda rev: parts.window(rev, run.now + 3000))
        what = random.choice(("insert", "insert", "upsert"))
        run.ask(what, run.now, keys=fresh, ts=at)
        count = fresh[0][1] - fresh[0][0] + 1
        run.rows |= set(range(fresh[0][0], fresh[0][1] + 1))
        run.recorded[run.segment] += count
        run.say("insert", at, rows=count, segment=run.segment, shard=parts.SHARD)
        if run.rows and random.random() < 0.4:
            gone = random.choice(sorted(run.rows))
            run.rows.remove(gone)
            later = ts(run.wait(), 1)
            run.ask("delete", run.now, keys=[[gone, gone]], ts=later)
            run.say("delete", later, rows=1)
        run.term += random.random() < 0.2
        tick = ts(run.wait())
        place = run.say("tick", tick)
        if random.random() < 0.3:
            place = run.say("tick", tick)
        sync(run, tick, place)
        run.ask("query", run.wait(), level=random.choice(LEVELS), keys=[[0, 999]], seen=runs(run.rows))
        run.ask("count", run.wait(), level="Strong", count=len(run.rows))
    return run


LEVELS = ("Strong", "Session", "Bounded", "Eventually")


def sync(run: Run, tick: int, place: int) -> None:
    """All rows are saved, the segment perhaps flushed, and the checkpoint follows the tick."""
    number, rows = run.segment, run.recorded[run.segment]
    flush = run.random.random() < 0.3
    files = range(40 * number, 40 * number + len(run.broker) % 3 + 1)
    run.put(
        lambda rev: parts.window(rev, run.now + 3000),
        lambda rev: parts.binlog(rev, number, rows, *files),
        lambda rev: parts.segment(rev, number, 4 if flush else 2, rows, tick),
        lambda rev: parts.checkpoint(rev, tick, place),
    )
    run.segment += flush


def runs(keys: Iterable[int]) -> list[list[int]]:
    return [[key, key] for key in sorted(keys)]


def row_after(now: int, first: str, at: int) -> list[str]:
    """A line, and a row of segment 7 that is fetched later."""
    return [first, parts.buffer(now + 300, 7), parts.fetched(now + 600, 7, at)]


PROXY = ("Add session for", "Remove session from", "Add session for")
FAULTS: dict[str, Callable[[int], list[str]]] = {
    "log-watermark": lambda now: row_after(now, parts.stored(now, ts(now)), ts(now) - 1),
    "log-checkpoint": lambda now: [parts.stored(now, ts(now)), parts.stored(now + 300, ts(now) - 1)],
    "log-checkpoint-answer": lambda now: [parts.stored(now, ts(now)), answered(now + 300, ts(now) + 1)],
    "log-recovery": lambda now: [parts.stored(now, ts(now)), sought(now + 300, ts(now) + 1)],
    "log-service-order": lambda now: [served(now, ts(now)), served(now + 300, ts(now) - 1)],
    "log-service-time": lambda now: row_after(now, served(now, ts(now)), ts(now)),
    "log-flushed-segment": lambda now: row_after(now, parts.flushed(now, 7), ts(now + 500)),
    "log-unsynced": lambda now: [
        *row_after(now, parts.buffer(now, 7), ts(now)),
        parts.stored(now + 900, ts(now)),
    ],
    "log-wal-checkpoint": lambda now: [consumed(now, ts(now)), consumed(now + 300, ts(now) - 1)],
    "log-saves": lambda now: [saved(now, 7, ts(now), 99), saved(now + 300, 7, ts(now) - 1, 99)],
    "log-sessions": lambda now: [proxy(now + 300 * number, word, 99) for number, word in enumerate(PROXY)],
}
"""By monitor, lines that it must refute."""


def last(run: Run) -> int:
    """A moment behind all others."""
    run.now += 10_000 + 40 * run.step * len(run.log)
    return run.now


def in_log(name: str) -> Callable[[Run], list[Any]]:
    return lambda run: FAULTS[name](last(run))


def read(run: Run, seen: list[list[int]], **rest: Any) -> list[Any]:
    return [op(len(run.client), "query", last(run), level="Strong", keys=[[0, 999]], seen=seen, **rest)]


def stale(run: Run) -> list[Any]:
    """A read that does not show what was acknowledged before it."""
    at = last(run)
    return [op(len(run.client), "insert", at, keys=[[990, 990]], ts=ts(at)), *read_next(run)]


def read_next(run: Run) -> list[Any]:
    (one,) = read(run, runs(run.rows))
    return [one | {"seq": len(run.client) + 1}]


def change(run: Run, make: Callable[..., dict[str, Any]], *given: Any) -> list[Any]:
    return [make(len(run.store) + 2, *given)]


PLANTS: dict[str, tuple[str, str, Callable[[Run], list[Any]]]] = {
    **{name: ("log", name, in_log(name)) for name in FAULTS},
    "late message in a WAL": (
        "wal", "log-wal", lambda run: [appended(last(run), "9/0", "INSERT", ts(0), run.term)]),
    "tick that goes back in a WAL": (
        "wal", "log-wal-ticks", lambda run: [appended(last(run), "9/0", "TIME_TICK", ts(0), run.term)]),
    "late message": ("broker", "broker-watermark", lambda run: [message(len(run.broker), "insert", ts(0))]),
    "tick that goes back": ("broker", "broker-ticks", lambda run: [message(len(run.broker), "tick", ts(0))]),
    "checkpoint that goes back": (
        "store", "store-checkpoint", lambda run: change(run, parts.checkpoint, ts(0), 0)),
    "window that goes back": ("store", "store-window", lambda run: change(run, parts.window, 1)),
    "binlog twice": ("store", "store-binlogs", lambda run: change(run, parts.binlog, 7, 1, 281, 281)),
    "lost row": ("client", "client-history", lambda run: read(run, runs(sorted(run.rows)[1:]))),
    "ghost": ("client", "client-history", lambda run: read(run, [*runs(run.rows), [998, 998]])),
    "doubled row": ("client", "client-history", lambda run: read(run, 2 * runs(run.rows))),
    "stale read": ("client", "client-history", stale),
    "timestamp twice": ("client", "client-unique", lambda run: [
        op(len(run.client), "insert", last(run), keys=[[900, 900]], ts=run.client[0]["ts"])]),
}  # fmt: skip
"""What is wrong -> where it shows, the monitor that must refute it, the lines behind all others."""


KEPT = (newest_first, pods, in_json, times_before)
"""Spoils after which a log still says all that it said."""
SORTED = (
    newest_first,
    partly_newest_first,
    older_part_last,
    sorted_by_text,
    some_out_of_place,
    pods_without_names,
)
"""Those that only change the order of the lines."""
SPOILS = (*KEPT, *SORTED[1:], reversed_physically, one_cut, in_an_archive)
Spoil = Callable[[list[str], Random], list[str]]


def shuffled(lines: list[Any], random: Random) -> list[Any]:
    return random.sample(lines, len(lines))


@dataclass(frozen=True)
class Spoiled:
    """The content of some files, whether they say what they have said before, and what was done to them."""

    files: list[bytes]
    kept: bool
    done: list[str]


def spoiled(part: str, lines: list[Any], random: Random, *, faulty: bool) -> Spoiled:
    """The lines in another form."""
    if part in ("log", "wal"):
        chosen = random.choices(SPOILS, k=random.choice((0, 1, 1, 2, 3)))
        if faulty:  # what two processes say is not compared
            chosen = [one for one in chosen if one is not pods]
        for spoil in chosen:
            lines = spoil(lines, random)
        kept, done = not chosen or (len(chosen) == 1 and chosen[0] in KEPT), [one.__name__ for one in chosen]
        if set(chosen) <= set(SORTED) and random.random() < 0.5:
            name = random.choice(sorted(FORMS))
            content = FORMS[name]([one for one in lines if "\n" not in one])
            return Spoiled([content], kept and not (chosen and name == "two on a line"), [*done, name])
        return Spoiled([packed(lines, random)], kept, done)
    lines = random.choice((shuffled, newest_first, older_part_last, untouched))(lines, random)
    middle = random.randrange(len(lines) + 1)
    cut = random.choice(([lines], [lines[:middle], lines[middle:]], [lines, lines[:middle]]))
    return Spoiled([packed(one, random) for one in cut if one], kept=True, done=[])


def packed(lines: list[Any], random: Random) -> bytes:
    return PACKED[random.choice([*PACKED, "plain", "plain"])](text(lines))


def untouched(lines: list[str], _random: Random) -> list[str]:
    return lines


@dataclass(frozen=True)
class Case:
    """What is given, and what must come out."""

    files: dict[str, bytes]
    wrong: str
    """The monitor that must refute; empty if nothing is wrong."""
    kept: bool
    """The form loses nothing."""
    says: str


def case(seed: int) -> Case:
    """A run, spoiled in its form, and every second one in its content."""
    random = Random(seed)
    run = cluster(seed, random.choice((1, 5, 40, 900, 60_000)))
    chosen = random.sample(PARTS, random.randint(1, len(PARTS)))
    name = (
        random.choice(sorted(name for name, (part, *_) in PLANTS.items() if part in chosen))
        if seed % 2
        else ""
    )
    faulty, wrong, plant = PLANTS.get(name, ("", "", None))
    files: dict[str, bytes] = {}
    kept, says = True, [name]
    for part in chosen:
        lines = list(run.lines(part))
        if plant is not None and part == faulty:
            lines += plant(run)
        given = spoiled(part, lines, random, faulty=part == faulty)
        says += [part, *given.done]
        kept = kept and (given.kept or bool(faulty and part != faulty))
        files |= {f"{part}{number}": one for number, one in enumerate(given.files)}
    if random.random() < 0.2:
        files = {"all": random.choice((archived, zipped))(files)}
    return Case(files, wrong, kept, " ".join(says))


PARTS = ("log", "wal", "store", "broker", "client")


def said(given: Case, folder: Path) -> dict[str, Outcome]:
    """Of each monitor the worst that is said of it; under "" whether a file was not judged."""
    for name, content in given.files.items():
        (folder / name).write_bytes(content)
    read_ = gather(find([folder], unpacked=folder.parent / "unpacked"))
    found = judge_evidence(read_)
    cut = found.problems or any(one.unfinished for one in read_.accounts.values())
    worst: dict[str, Outcome] = {"": Outcome.INCONCLUSIVE if cut else Outcome.HOLDS}
    for one in verdicts(found, instance="x", replay="again"):
        name = one.subject.instance.rpartition(":")[2]
        if worst.get(name) is not Outcome.REFUTED:
            worst[name] = one.outcome if one.outcome is not Outcome.HOLDS else worst.get(name, one.outcome)
    return worst


def mistake(given: Case, worst: dict[str, Outcome]) -> str:
    """What is wrong with what was said; empty if nothing is."""
    refuted = sorted(name for name, outcome in worst.items() if outcome is Outcome.REFUTED)
    if not given.wrong:
        wrong = "false alarm" * bool(refuted) or "not judged" * (
            given.kept and set(worst.values()) != {Outcome.HOLDS}
        )
        return wrong and f"{wrong}: {given.says}: {worst}"
    if given.wrong in refuted or (not given.kept and set(worst.values()) != {Outcome.HOLDS}):
        return ""
    return f"not found: {given.says}: {worst.get(given.wrong)}"


def tried(seeds: Iterable[int]) -> Counter[str]:
    """How often what was said; each wrong answer under its seed."""
    counted: Counter[str] = Counter()
    for seed in seeds:
        given = case(seed)
        with tempfile.TemporaryDirectory() as place:
            folder = Path(place) / "given"
            folder.mkdir()
            worst = said(given, folder)
        if wrong := mistake(given, worst):
            counted[f"seed {seed}: {wrong}"] += 1
        outcome = next(
            (one for one in (Outcome.REFUTED, Outcome.INCONCLUSIVE) if one in worst.values()), Outcome.HOLDS
        )
        counted[f"{'faulty' if given.wrong else 'sound'} {outcome.value}"] += 1
    return counted


if __name__ == "__main__":
    print("\n".join(f"{count:>6} {what}" for what, count in sorted(tried(range(int(sys.argv[1]))).items())))
