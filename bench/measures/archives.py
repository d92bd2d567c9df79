"""Evidence in archives of many forms: the standalone cluster against one process, with the same verdicts."""

import json
import shutil
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from itertools import count, islice
from pathlib import Path

import pyarrow as pa

from tidemark.bench.measures.evidence import operations
from tidemark.bench.process import in_fresh_process
from tidemark.bench.sample import NotMeasured, Sample, Side, seconds
from tidemark.bench.series import Measure, Plan, Row
from tidemark.checks.evidence.command import Options, finish, read_and_judge
from tidemark.checks.spark.session import SparkOptions, cluster, spark_session, stop_session
from tidemark.checks.verdicts.errors import MissingToolError

_BEGIN = 1_700_000_000  # a second of 2023/11/14
_STAMP = b"2023/11/14 22:13:20"
_A_SECOND = 1_000
"""Lines of one node in a second."""
_EVENT_EVERY = 12
_MESSAGES = 63 * 16
"""Of a topic of 16 channels, in a second; the first of each channel is a tick."""
_IDLE = (
    b'[@.%03d +00:00] [DEBUG] [proxy/task_scheduler.go:266] ["schedule one task"] [taskID=%d] [db=default]\n'
)
_HEAD = "[{stamp}.{n:03d} +00:00] [INFO] "
_STORED = _HEAD + (
    '[datacoord/meta.go:1341] ["UpdateChannelCheckpoint done"] [vChannel=dml_{node}_1v0] [ts={stored}]\n'
)
_ADDED = _HEAD + (
    '[metacache/meta_cache.go:1] ["adding segment"] [type=Growing] [segmentID={segment}] '
    "[channel=dml_{node}_1v0]\n"
)
_FETCH = _HEAD + (
    '[pipeline/insert_node.go:80] ["pipeline fetch insert msg"] [collectionID=1] [segmentID={segment}] '
    "[insertRowNum=3] [timestampMin={ts}] [timestampMax={ts}]\n"
)
_MESSAGE = (
    '{{"kind":"broker","topic":"dml_{c}","id":{n},"type":"{t}","ts":{ts},"rows":1,"source":1}}\n'.format
)


def seconds_of_a_node(node: int) -> Iterator[bytes]:
    """The lines of a node, a second each; one in twelve is an event, and timestamps grow."""
    idle = [_IDLE % (n * 1000 // _A_SECOND, n) for n in range(_A_SECOND) if n % _EVENT_EVERY]
    for second in count(_BEGIN):
        stamp = time.strftime("%Y/%m/%d %H:%M:%S", time.gmtime(second))
        fetches = [
            (_STORED, _ADDED, _FETCH)[min(n // _EVENT_EVERY, 2)].format(
                stamp=stamp,
                n=n,
                node=node,
                segment=100 * node + (n // _EVENT_EVERY + second) % 9,
                ts=(second * 1000 + n) << 18,
                stored=(second * 1000 - 1) << 18,
            )
            for n in range(0, _A_SECOND, _EVENT_EVERY)
        ]
        lines = b"".join(idle).replace(b"@", stamp.encode()).splitlines(keepends=True)
        for n, fetch in enumerate(fetches):
            lines.insert(n * _EVENT_EVERY, fetch.encode())
        yield b"".join(lines)


def seconds_of_a_topic(*, late: bool) -> Iterator[bytes]:
    """Inserts of 16 channels and their ticks; ``late``: one row comes behind a tick that has passed it."""
    for second in count(_BEGIN):
        ts, of_a_channel = (second * 1000) << 18, _MESSAGES // 16
        behind = 16 if late and second == _BEGIN + 3 else 0
        lines = [
            _MESSAGE(
                c=n % 16,
                n=(second - _BEGIN) * of_a_channel + n // 16,
                t="insert" if n >= 16 else "tick",
                ts=ts - 1 if n == behind > 0 else ts + (n if n >= 16 else 0),
            )
            for n in range(_MESSAGES)
        ]
        yield "".join(lines).encode()


def seconds_of_clients() -> Iterator[bytes]:
    """What eight clients did and saw; sound."""
    entries = (json.dumps(one).encode() + b"\n" for one in operations(1 << 40))
    while True:
        yield b"".join(islice(entries, 500))


def under_docker(seconds: Iterator[bytes]) -> Iterator[bytes]:
    """The same lines as Docker keeps them."""
    for lines in seconds:
        wrapped = ({"log": one.decode(), "stream": "stdout"} for one in lines.splitlines(keepends=True))
        yield b"".join(json.dumps(one).encode() + b"\n" for one in wrapped)


def under_kubectl(seconds: Iterator[bytes], node: int) -> Iterator[bytes]:
    """The same lines with the pod before each."""
    pod = b"[pod/milvus-datanode-%d/datanode] [" % node
    for lines in seconds:
        yield lines.replace(b"\n[", b"\n" + pod).replace(b"[", pod, 1)


_FORMS: dict[str, tuple[float, Iterator[bytes], str]] = {
    "a.log.gztar": (0.16, seconds_of_a_node(0), ""),
    "b.log.zip": (0.16, seconds_of_a_node(1), ""),
    "c.log.xztar": (0.02, seconds_of_a_node(2), ""),
    "d.log.gz": (0.16, seconds_of_a_node(3), "gzip"),
    "e.log": (0.16, seconds_of_a_node(4), ""),
    "f.json.zst": (0.08, under_docker(seconds_of_a_node(5)), "zstd"),
    "g.txt": (0.17, under_kubectl(seconds_of_a_node(6), 6), ""),
    "h.ndjson.zst": (0.08, seconds_of_a_topic(late=True), "zstd"),
    "i.ndjson": (0.01, seconds_of_clients(), ""),
}
"""Name -> part of all bytes, what is in it, how its files are packed."""


def write_form(folder: Path, name: str, *, size: int) -> None:
    """About ``size`` bytes of evidence, unpacked, in files of 128 MiB at most, or in one archive of these."""
    _, content, packed = _FORMS[name]
    archive = name.rpartition(".")[2] if name.endswith(("tar", "zip")) else ""
    place, files = folder / f".{name}" if archive else folder, max(1, size >> 27)
    place.mkdir(exist_ok=True)
    for number in range(files):
        left = size // files
        with pa.output_stream(f"{place}/{number}.{name}", compression=packed or None) as file:
            while left > 0:
                lines = next(content)
                file.write(lines)
                left -= len(lines)
    if archive:
        shutil.make_archive(f"{folder}/{name}", archive, place)
        shutil.rmtree(place)


def write_archives(folder: Path, *, size: int) -> None:
    """About ``size`` bytes of evidence, unpacked, in all forms; one of them is broken: the topic."""
    folder.mkdir(parents=True)
    with ProcessPoolExecutor(2) as pool:
        for made in [
            pool.submit(write_form, folder, name, size=int(size * form[0])) for name, form in _FORMS.items()
        ]:
            made.result()


def judged(*, path: str, build: str, workers: int) -> Sample:
    """Read and judge; ``workers`` executors of one core each, 0 for this process alone.

    Counts: files, lines, events, and per verdict its outcome and its events (``CLAIM MONITOR OUTCOME``).
    """
    folder = Path(build)
    if not workers:
        return _judged(Path(path), Options(build=folder, spark=False))
    try:
        with cluster(folder / "cluster", workers=workers) as (master, _):
            spark_session(master=master, build=folder, options=SparkOptions(memory_gib=1, settings=_SETTINGS))
            try:
                return _judged(Path(path), Options(build=folder, spark=True, master=master))
            finally:
                stop_session()
    except MissingToolError as error:
        raise NotMeasured(f"{error.message}; {error.remedy}") from error


_SETTINGS = {"spark.executor.memory": "512m"}


def _judged(path: Path, options: Options) -> Sample:
    begun = time.perf_counter()
    read, found = read_and_judge([path], options)
    done = finish(
        read, found, replay=options.command([path]), options=options, begun=begun, name="archives"
    ).result
    verdicts = {
        f"{one.subject.property_id} {one.subject.instance} {one.outcome}": one.counts.get("events", 0)
        for one in (judgement.verdict for judgement in done.judgements)
    }
    lines = sum(account.counts.lines for account in read.accounts.values())
    counted = {"files": len(read.accounts), "lines": lines, "events": read.events.num_rows}
    return Sample(seconds=time.perf_counter() - begun, counts=counted | verdicts)


NAME = "archives"
ALONE, TWO = "one process", "standalone cluster, two executors"


def run(plan: Plan) -> Iterator[Row]:
    """The same archives in one process and on the cluster; the verdicts are the same."""
    size = 100_000_000 if plan.quick else 10_000_000_000
    folder = plan.scratch / "archives"
    write_archives(folder, size=size)
    sides = [
        Side(
            name,
            partial(
                in_fresh_process,
                judged,
                timeout=7200,
                family=True,
                path=str(folder),
                build=str(plan.scratch / f"build-{workers}"),
                workers=workers,
            ),
            subject="archives",
        )
        for name, workers in ((ALONE, 0), (TWO, 2))
    ]
    series = plan.series(sides, measure=NAME, size=f"{size / 1e9:g} GB in {len(_FORMS)} forms")
    yield series.row(ALONE, ALONE, seconds, unit="s")
    yield series.row(TWO, TWO, seconds, unit="s", against=ALONE)


MEASURE = Measure(NAME, "Evidence in archives of many forms, in one process and on a cluster.", run)
