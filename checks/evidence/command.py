"""``tidemark evidence PATH...``: read, judge, show.

Judge evidence while it grows: Structured Streaming reads what is new, monitors go on from memory.

After each batch the memory of all monitors is written beside Spark's own checkpoint, under the number of
the batch. If the program is killed, Spark repeats the last batch; the monitors then take up the memory from
before it, so that no event counts twice.
"""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.text import Text

from tidemark.checks.evidence.follow import Follower, follow
from tidemark.checks.evidence.judge import Finding, history_answers, judge_evidence, result, sorts_of, told
from tidemark.checks.evidence.monitors.base import Answer
from tidemark.checks.evidence.monitors.run import MONITORS
from tidemark.checks.evidence.order import settle
from tidemark.checks.evidence.readers.broker import decode, lines
from tidemark.checks.evidence.readers.etcd import ForgottenError, GatewayError, dump, watch
from tidemark.checks.evidence.symptoms import diagnoses
from tidemark.checks.evidence.table.events import Events
from tidemark.checks.evidence.table.files import UNPACKED, Sort, Source, find
from tidemark.checks.evidence.table.packing import piped
from tidemark.checks.evidence.table.plain import Evidence, gather, write
from tidemark.checks.evidence.timeline import pictures
from tidemark.checks.report.console import show_result
from tidemark.checks.report.files import write_files
from tidemark.checks.verdicts.commands import EVIDENCE_BUILD, evidence_command
from tidemark.checks.verdicts.errors import BadInputError
from tidemark.checks.verdicts.exit_codes import ExitCode
from tidemark.checks.verdicts.result import RunResult
from tidemark.checks.verdicts.verdict import Outcome, Verdict

if TYPE_CHECKING:
    from confluent_kafka import Consumer


_SECONDS = 10.0
"""How long the broker may take to answer, and how often it is said how far the reading is."""


class BrokerError(Exception):
    """Nothing answers, or what answers does not give what it says that it has."""


def messages(address: str, topics: str) -> Iterator[tuple[str, int, bytes]]:
    """Topic, offset and value of each message, topic by topic, from the first offset that is kept.

    Channels of Milvus have one partition. Raises BrokerError if nothing answers at the address, if no topic
    has ``topics`` in its name, or if a topic stops before its end.
    """
    from confluent_kafka import Consumer, KafkaException

    consumer = Consumer(
        {"bootstrap.servers": address, "group.id": "tidemark", "enable.auto.commit": False, "log_level": 0}
    )
    try:
        names = sorted(name for name in consumer.list_topics(timeout=_SECONDS).topics if topics in name)
        if not names:
            raise BrokerError(f"no topic of {address} has {topics!r} in its name")
        for name in names:
            yield from _topic(consumer, name)
    except KafkaException as error:
        raise BrokerError(f"the broker at {address} does not answer: {error.args[0].str()}") from error
    finally:
        consumer.close()


def _topic(consumer: Consumer, name: str) -> Iterator[tuple[str, int, bytes]]:
    from confluent_kafka import TopicPartition

    low, high = consumer.get_watermark_offsets(TopicPartition(name, 0), timeout=_SECONDS)
    consumer.assign([TopicPartition(name, 0, low)])
    at = low
    while at < high:
        message = consumer.poll(_SECONDS)
        problem = None if message is None else message.error()
        if message is None or problem is not None:
            why = f"no answer in {_SECONDS:.0f} s" if problem is None else problem.str()
            raise BrokerError(f"topic {name} stops at offset {at}, although it goes on to {high}: {why}")
        offset = message.offset()
        assert offset is not None  # only a message that was not sent yet has none
        at = offset + 1
        yield name, offset, message.value() or b""


FILE = Path("live") / "etcd.ndjson"
TOPICS_FILE = Path("live") / "broker.ndjson"
CHANNELS = "rootcoord-dml"
"""Part of the names of the topics that carry rows and ticks."""


def save_store(address: str, *, build: Path) -> Path:
    """Write the whole history of the etcd at a gateway to a file below the build folder; return its path.

    The history ends where no change comes for some seconds. If its first revisions are gone, what stands is
    written in its place. Raises BadInputError if nothing answers at the address, or if the store is empty.
    """
    return _saved(
        (f"{json.dumps(change)}\n" for change in _history(address)),
        build / FILE,
        nothing=f"the store at {address} has no change",
        remedy="name the HTTP gateway of an etcd: http://HOST:2379",
    )


def _saved(lines: Iterable[str], path: Path, *, nothing: str, remedy: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        with path.open("w", encoding="utf-8") as file:
            written = sum(map(file.write, lines))
    except (GatewayError, BrokerError, ValueError) as error:
        raise BadInputError(str(error), remedy=remedy) from error
    if not written:
        raise BadInputError(nothing, remedy=remedy)
    return path


def _history(address: str) -> Iterator[dict[str, Any]]:
    try:
        yield from watch(address)
    except ForgottenError:  # it is said before the first change
        yield from dump(address)


def save_topics(address: str, *, build: Path, topics: str = CHANNELS) -> Path:
    """Write the messages of a Kafka broker, up to those it holds now, to a file below the build folder.

    Topics are those with ``topics`` in their name. Nothing is committed: no consumer of the system notices.
    Raises BadInputError if nothing answers at the address, if no topic has such a name, or if a message is
    none of Milvus's; ModuleNotFoundError if the extra ``evidence`` is missing.
    """
    return _saved(
        lines(_known(messages(address, topics))),
        build / TOPICS_FILE,
        nothing=f"the topics of {address} with {topics!r} in their name hold no message",
        remedy="name a broker of the cluster as HOST:PORT, and --topics as its channels are named",
    )


def _known(found: Iterator[tuple[str, int, bytes]]) -> Iterator[dict[str, Any]]:
    for topic, offset, value in found:
        yield decode(topic, offset, value)


SPARK_FROM = 1 << 30
"""Bytes of evidence from which Spark is quicker than one process, which needs no start."""

_SAID = 20
"""So many notes, and reports of one monitor, are shown."""

EVENTS = "events.parquet"
UNPACKED_AT = ".unpacked"
"""Folder for what archives hold, below that of the run; hidden, so that it is not taken for evidence."""


@dataclass(frozen=True, kw_only=True)
class Options:
    """How evidence is read and shown."""

    build: Path = EVIDENCE_BUILD
    spark: bool | None = None
    """Read on Spark; None decides by the size."""
    master: str = "local[*]"
    instance: str = ""
    """Specification instance of traces and runs that do not name theirs."""
    manifests: tuple[Path, ...] = ()
    arrange: Path | None = None
    """Folder for the table, partitioned by component, channel and key."""

    def command(self, paths: Sequence[Path]) -> str:
        """The command that judges these paths again."""
        return evidence_command(paths, build=self.build, instance=self.instance, manifests=self.manifests)


def evidence(paths: Sequence[Path], *, options: Options, console: Console) -> int:
    """Judge the evidence at and below the paths; returns the exit status.

    Raises BadInputError if a path does not exist or none of the files is evidence.
    """
    begun = time.perf_counter()
    replay = options.command(paths)
    read, found = read_and_judge(paths, options, _every_seconds(console))
    say_files(read, found, console)
    finished = finish(read, found, replay=replay, options=options, begun=begun, name=_name(paths))
    show_result(finished.result, console, build=options.build, files=finished.files)
    return finished.result.exit_code.value


def _every_seconds(console: Console) -> Callable[[int, int], None]:
    """Says how far the reading is, if it takes long."""
    due = time.monotonic() + _SECONDS

    def told(done: int, of: int) -> None:
        nonlocal due
        if time.monotonic() > due:
            due += _SECONDS
            _say(console, f"read {done:,} of {of:,} files")

    return told


def read_and_judge(
    paths: Sequence[Path], options: Options, told: Callable[[int, int], None] = lambda _done, _all: None
) -> tuple[Evidence, Finding]:
    """The events and what the judges say about them. Raises BadInputError as ``evidence`` does."""
    paths = [piped(one, options.build) if str(one) == "-" or one.is_fifo() else one for one in paths]
    sources = sources_at(paths, unpacked=options.build / UNPACKED_AT)
    answers: list[Answer] | None = None
    if _on_spark(sources, options):
        read, answers = _spark(sources, options)
    else:
        read = gather(sources, told=told)
    return read, judge_evidence(read, answers)


def sources_at(paths: Sequence[Path], *, unpacked: Path | None = None) -> list[Source]:
    """The files; BadInputError if there are none that can be judged. Archives go to ``unpacked``."""
    try:
        sources = find(paths, unpacked=unpacked)
    except FileNotFoundError as error:
        raise BadInputError(
            f"there is no {Path(error.args[0]).as_posix()}", remedy="name log files, or folders with evidence"
        ) from error
    if not sources:
        raise BadInputError(
            f"there is no file in {', '.join(path.as_posix() for path in paths)}",
            remedy="name log files, or folders with evidence",
        )
    if all(source.sort in (Sort.NONE, Sort.NOTES, Sort.OTHER) for source in sources):
        told = "\n  ".join(f"{one.name}: {one.problem or 'no evidence'}" for one in sources[:8])
        raise BadInputError(
            f"none of {len(sources)} files is evidence:\n  {told}",
            remedy="docs/evidence.md lists what is understood",
        )
    return sources


def _on_spark(sources: Sequence[Source], options: Options) -> bool:
    if options.spark is not None:
        return options.spark
    return sum(source.size * (UNPACKED if source.packed else 1) for source in sources) > SPARK_FROM


def _spark(sources: Sequence[Source], options: Options) -> tuple[Evidence, list[Answer]]:
    from tidemark.checks.evidence.monitors.distribute import judge_frame
    from tidemark.checks.evidence.table.distribute import event_frame, spark_evidence, write_parquet
    from tidemark.checks.spark.session import spark_session

    spark = spark_session(master=options.master, build=options.build)
    folder = options.build / "events"
    read = spark_evidence(spark, sources, folder)
    frame, parts = event_frame(spark, folder), spark.sparkContext.defaultParallelism
    if options.arrange is not None:
        write_parquet(frame, str(options.arrange.resolve()), parts=parts)
    return read, judge_frame(frame, parts=parts)


@dataclass(frozen=True)
class Finished:
    """The result, and the files in which it is."""

    result: RunResult
    files: list[Path]


def finish(
    read: Evidence,
    found: Finding,
    *,
    replay: str,
    options: Options,
    begun: float,
    name: str,
    expected: Mapping[str, Outcome] | None = None,
) -> Finished:
    """Verdicts, files and pictures. ``expected``: property id -> what must come out, if not ``holds``."""
    further: Iterable[Verdict] = ()
    if any(kind.startswith("trace.") for kind in read.events.kinds()) or any(
        source.sort is Sort.ITF for source in read.sources
    ):
        from tidemark.checks.evidence.refinement.judge import refinement_verdicts

        further = refinement_verdicts(
            read, instance=name, replay=replay, given=options.instance, manifests=options.manifests
        )
    done = result(
        found,
        instance=name,
        replay=replay,
        seconds=time.perf_counter() - begun,
        expected=expected,
        further=further,
    )
    drawn = pictures(read.events, found.answers)
    files = [*write_files(done, build=options.build, pictures=drawn), _table(read, options)]
    return Finished(done, files)


def _table(read: Evidence, options: Options) -> Path:
    """Where the event table is: the folder that Spark wrote, or a file that is written now."""
    if read.folder is not None:
        return read.folder
    write(read.events.table(), options.build / EVENTS)
    return options.build / EVENTS


def _name(paths: Sequence[Path]) -> str:
    return paths[0].resolve().name if len(paths) == 1 else f"{len(paths)}-paths"


def say_files(read: Evidence, found: Finding, console: Console) -> None:
    """What was read, what was not, and what could not be judged."""
    counted = [account for account in read.accounts.values() if account.counts.lines]
    lines = sum(account.counts.lines for account in counted)
    logs = [account.counts for account in counted if account.sort is Sort.LOG]
    ruled, entries = sum(one.ruled for one in logs), sum(one.entries for one in logs)
    share = f" (of {entries:,} entries of logs {ruled:,} have a rule)" if entries else ""
    _say(console, f"read {len(counted)} files, {lines:,} lines{share}, {read.events.num_rows:,} events")
    _say_some(console, "note", found.notes)
    for answer in found.answers:
        _say_some(console, answer.property_id, [told(*report) for report in answer.reports.items()])
    for gap in dict.fromkeys(map(str, found.gaps)):
        _say(console, f"  gap: {gap}")
    for diagnosis in diagnoses(read.events):
        for line in diagnosis.lines():
            _say(console, line)
    if found.idle:
        of = Counter(sorts_of(name) for name, _ in found.idle)
        rules = ", ".join(f"{count} about {sort}" for sort, count in sorted(of.items()))
        _say(
            console,
            f"not judged, for want of events: {len(found.idle)} rules ({rules}); "
            "`tidemark evidence --claims` lists what each needs",
        )


def _say_some(console: Console, head: str, sentences: Sequence[str]) -> None:
    for sentence in sentences[:_SAID]:
        _say(console, f"  {head}: {sentence}")
    if len(sentences) > _SAID:
        _say(console, f"  {head}: {len(sentences) - _SAID:,} more like these")


def _say(console: Console, text: str) -> None:
    console.print(Text(text), soft_wrap=True)


def show_claims(console: Console) -> int:
    """The table of ``--claims``."""
    from tidemark.checks.evidence import claims

    for line in claims.lines():
        _say(console, line)
    return ExitCode.AS_EXPECTED.value


def show_understood(paths: Sequence[Path], *, options: Options, console: Console) -> int:
    """The tables of ``--understood``. Inconclusive if no entry of a log is among what is given."""
    from tidemark.checks.evidence.understood import Understood

    found = Understood(sources_at(paths, unpacked=options.build / UNPACKED_AT))
    for line in found.lines():
        _say(console, line)
    return (ExitCode.AS_EXPECTED if found.entries else ExitCode.INCONCLUSIVE).value


def violation(answer: Answer) -> str:
    """The last violation of an answer, while more events come."""
    monitor = next(one for one in MONITORS if one.name == answer.monitor)
    open_ = "" if monitor.final() else " (what comes later may take it back)"
    return f"{answer.property_id} ({answer.monitor}): {answer.breaches[-1].sentence}{open_}"


def follow_evidence(
    paths: Sequence[Path],
    *,
    options: Options,
    seconds: float | None,
    console: Console,
    once: bool = False,
) -> int:
    """``--follow``: judge what is there and what comes; each new violation is shown once, and marked if later
    events may take it back.

    ``once`` ends when all that is there now has been judged. A run with the same build folder continues where
    the last one ended.
    """
    from tidemark.checks.spark.session import spark_session

    begun = time.perf_counter()
    sources_at(paths)
    shown: dict[str, int] = {}

    def say(answers: list[Answer]) -> None:
        fresh = [one for one in answers if one.broken > shown.get(one.monitor, 0)]
        for one in settle(fresh, Events.in_folder(folder / "events"), ()):
            if one.broken > shown.get(one.monitor, 0):
                shown[one.monitor] = one.broken
                _say(console, violation(one))
                for place in one.breaches[-1].places:
                    _say(console, f"  {place}")

    spark = spark_session(master=options.master, build=options.build)
    folder = options.build / "follow"
    stopped = False
    try:
        memory = follow(spark, paths, folder=folder, say=say, seconds=seconds, once=once)
    except KeyboardInterrupt:
        stopped, memory = True, Follower(folder, say).latest()
    if not memory.accounts:
        _say(
            console,
            "nothing was read before the end: Spark takes some time to start; a greater --seconds helps",
        )
    kept = Evidence.kept(folder / "events", memory.accounts, find(paths))
    # A batch shows a part of a history; histories are judged when the run ends.
    found = judge_evidence(kept, memory.answers(kept.events) + history_answers(kept))
    replay = options.command(paths)
    done = finish(kept, found, replay=replay, options=options, begun=begun, name=_name(paths))
    if stopped:
        _say(console, f"stopped; the same command continues from {folder.as_posix()}")
    show_result(done.result, console, build=options.build, files=done.files)
    return done.result.exit_code.value
