"""Evidence in archives of many forms: the standalone cluster against one process, with the same verdicts."""

import shutil
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path

import pyarrow as pa

from tidemark.bench.made import seconds_of_a_node, seconds_of_clients, topic, under_docker, under_kubectl
from tidemark.bench.process import in_fresh_process
from tidemark.bench.sample import NotMeasured, Sample, Side, seconds
from tidemark.bench.series import Measure, Plan, Row
from tidemark.checks.evidence.command import Options, finish, read_and_judge
from tidemark.checks.spark.session import SparkOptions, cluster, spark_session, stop_session
from tidemark.checks.verdicts.errors import MissingToolError

_FORMS: dict[str, tuple[float, Iterator[bytes], str]] = {
    "a.log.gztar": (0.16, seconds_of_a_node(0), ""),
    "b.log.zip": (0.16, seconds_of_a_node(1), ""),
    "c.log.xztar": (0.02, seconds_of_a_node(2), ""),
    "d.log.gz": (0.16, seconds_of_a_node(3), "gzip"),
    "e.log": (0.16, seconds_of_a_node(4), ""),
    "f.json.zst": (0.08, under_docker(seconds_of_a_node(5)), "zstd"),
    "g.txt": (0.17, under_kubectl(seconds_of_a_node(6), 6), ""),
    "h.ndjson.zst": (0.08, topic(1008, late=lambda block: block == 3), "zstd"),
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
