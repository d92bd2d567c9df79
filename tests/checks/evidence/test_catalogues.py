"""What stands in the store: catalogues that agree, and planted disagreements."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.checks.etcd_gateway import gateway
from tests.checks.evidence import parts
from tests.checks.evidence.parts import SHARD, of, ts, write
from tidemark.checks.cli import app
from tidemark.checks.evidence.monitors.base import Answer
from tidemark.checks.evidence.monitors.checkpoints import LAG_BOUND
from tidemark.checks.verdicts.exit_codes import ExitCode

Changes = list[dict[str, Any]]
OTHER = SHARD.replace("100v0", "101v0")
LONG = int(LAG_BOUND * 1000) + 5000
"""Milliseconds after which catalogues have to agree."""


def store(end: int = LONG + 2000) -> Changes:
    """Two collections with a channel each, which all three catalogues have; the last window is ``end``."""
    found: Changes = [parts.session(2, "rootcoord", 1), parts.window(3, 3000)]
    for channel, number in ((SHARD, 100), (OTHER, 101)):
        found += [parts.mark(4, channel), parts.recovered(4, channel, at=ts(60))]
        found += [parts.collection(5, number, channel, at=ts(50)), parts.segment(6, number, 1, 0, 0)]
        found += [parts.checkpoint(8, ts(end - 5000), channel=channel)]
    found[-2] = parts.segment(6, 101, 1, 0, 0, channel=OTHER)
    between = parts.window(7, end - 3000)
    return [*found, between, parts.consumed(7, ts(end - 4000)), parts.window(9, end)]


def without(changes: Changes, *words: str) -> Changes:
    """These changes, but for those of keys with all the words in them."""
    return [one for one in changes if not all(word in one["key"] for word in words)]


FORMS: dict[str, Callable[[Path, Changes], Path]] = {
    "history": lambda run, changes: write(run / "etcd.ndjson", sorted(changes, key=lambda one: one["rev"])),
    "dump": lambda run, changes: write(run / "etcd.json", [parts.dump(9, *changes)]),
}
COUNTS = {"store-channels": 2, "store-recovered-channels": 2, "store-orphans": 4, "store-leases": 1}
"""Monitor -> what it compares in a sound store."""


@pytest.fixture(params=FORMS)
def put(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[Changes], Path]:
    def put(changes: Changes) -> Path:
        FORMS[request.param](tmp_path, changes)
        return tmp_path

    return put


def test_catalogues_that_agree(put: Callable[[Changes], Path]) -> None:
    run = put(store())
    assert {name: of(run, name).events for name in COUNTS} == COUNTS
    found = parts.judged(run)
    assert found.gaps == []
    assert [one for one in found.answers if one.broken or one.unsure or one.reports] == []


FAULTS: dict[str, tuple[Changes, str, str]] = {
    "no mark": (without(store(), "removal", "101v0"), "store-channels", "does not know"),
    "a mark that says removed": (
        [*store(), parts.mark(4, OTHER, "removed")], "store-channels", "has marked as removed",
    ),
    "no recovery": (
        without(store(), "vchannel", "101v0"), "store-recovered-channels", "nothing repairs it",
    ),
    "recovery of what is dropped": (
        [*store(), parts.recovered(4, OTHER, 2, at=ts(60))], "store-recovered-channels", "holds for dropped",
    ),
    "a checkpoint that stands": (
        [*without(store(), "channel-cp", "101v0"), parts.checkpoint(8, ts(100), channel=OTHER)],
        "store-checkpoint-lag", "stays",
    ),
    "a session without lease": (
        [*store(), parts.session(8, "proxy-2", 2) | {"lease": 0}], "store-leases", "has no lease",
    ),
}  # fmt: skip
"""Changes; the monitor that finds what is wrong with them; a part of its sentence."""


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_found(name: str, put: Callable[[Changes], Path]) -> None:
    changes, monitor, sentence = FAULTS[name]
    run = put(changes)
    found = of(run, monitor)
    assert (found.broken, sentence in found.breaches[0].sentence) == (1, True), found.breaches
    assert [one.monitor for one in parts.judged(run).answers if one.broken] == [monitor]


def test_what_one_catalogue_changes_the_others_follow(put: Callable[[Changes], Path]) -> None:
    """The same faults, a moment after the collection was created, are none."""
    run = put(without(without(store(20_000), "removal", "101v0"), "vchannel", "101v0"))
    assert [one.monitor for one in parts.judged(run).answers if one.broken] == []


def dropped(run: Path, *further: dict[str, Any], clock: int) -> Answer:
    """A history in which a collection is removed while a segment and a channel of it stay."""
    gone = parts.change(10, "meta/root-coord/database/collection-info/1/101", "⛼".encode())
    FORMS["history"](run, [*store(), gone, *further, parts.window(12 + len(further), clock)])
    write(run / "between.ndjson", [parts.window(11, LONG + 2001)])
    return of(run, "store-orphans")


def test_what_is_left_over_is_found_in_a_history(tmp_path: Path) -> None:
    found = dropped(tmp_path, clock=2 * LONG + 4000)
    assert [one.sentence.split()[0] for one in found.breaches] == ["Channel", "Segment"]
    assert "etcd.ndjson:10 collection 101 is removed" in map(str, found.breaches[0].places)
    lag = of(tmp_path, "store-checkpoint-lag")
    assert [one.key for one in lag.breaches] == [SHARD]  # nothing is expected of a channel that is gone


def test_what_is_left_over_for_a_moment_is_none(tmp_path: Path) -> None:
    found = dropped(tmp_path, clock=LONG + 9000)
    assert (found.events, found.broken, found.unsure) == (4, 0, {})


def test_a_second_dump_decides(tmp_path: Path) -> None:
    changes = without(store(), "collection-info", "101")
    write(tmp_path / "one.json", [parts.dump(9, *changes)])
    first = of(tmp_path, "store-orphans")
    assert (first.broken, list(first.unsure.values())) == (0, [2])
    assert "a dump some minutes later" in next(iter(first.unsure))
    later = [*changes, parts.window(20, 2 * LONG + 4000)]
    write(tmp_path / "two.json", [parts.dump(20, *later)])
    second = of(tmp_path, "store-orphans")
    assert (second.broken, second.unsure) == (2, {})


@pytest.mark.parametrize(
    ("word", "monitor", "reason"),
    [
        ("collection-info", "store-channels", "the root coordinator's collections"),
        ("collection-info", "store-recovered-channels", "the root coordinator's collections"),
        ("collection-info", "store-orphans", "the root coordinator's collections"),
        ("consume-checkpoint", "store-recovered-channels", "how far a log is read"),
    ],
)
def test_a_catalogue_that_is_missing_is_named(
    word: str, monitor: str, reason: str, put: Callable[[Changes], Path]
) -> None:
    changes = without(without(store(), word), "vchannel", "101v0")
    found = of(put(changes), monitor)
    assert found.events
    assert not found.broken
    assert reason in next(iter(found.unsure))


def test_before_2_6_no_streaming_node_is_missed(put: Callable[[Changes], Path]) -> None:
    run = put(without(store(), "streamingnode-meta"))
    assert of(run, "store-recovered-channels").events == 0
    assert of(run, "store-channels").events == 2


def test_a_log_that_is_not_read_so_far_is_reported(put: Callable[[Changes], Path]) -> None:
    changes = [*without(store(), "vchannel", "101v0"), parts.consumed(7, ts(40))]
    found = of(put(changes), "store-recovered-channels")
    assert (found.broken, len(found.reports)) == (0, 1)


def test_what_a_gap_may_hide_shows_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The mark of a channel may be in a revision that is left out, or before the first one."""
    changes = without(store(), "removal", "101v0")
    for missing in (7, 2):
        FORMS["history"](tmp_path, [one for one in changes if one["rev"] != missing])
        status = app.run(["evidence", str(tmp_path), "--build", str(tmp_path / "build"), "--plain"])
        assert status == ExitCode.INCONCLUSIVE
        assert "catalogue.the_data_coordinator_knows_each_channel is inconclusive" in capsys.readouterr().out
        (tmp_path / "etcd.ndjson").unlink()


def test_a_dump_is_judged_for_what_stands_only(tmp_path: Path) -> None:
    """Nothing is said of orders: a dump has the last value of each key."""
    FORMS["dump"](tmp_path, [*store(), parts.checkpoint(2, ts(LONG))])
    assert {one.monitor for one in parts.judged(tmp_path).answers} == {*COUNTS, "store-checkpoint-lag"}


def test_a_dump_in_several_lines(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = json.dumps(parts.dump(9, *FAULTS["no mark"][0]), indent=2)
    (tmp_path / "dump.json").write_text(text)
    build = ["--build", str(tmp_path / "build"), "--plain"]
    assert app.run(["evidence", str(tmp_path / "dump.json"), *build]) == ExitCode.UNEXPECTED_REFUTATION
    assert "the_data_coordinator_knows_each_channel is refuted" in capsys.readouterr().out


def test_a_long_dump_and_a_broken_value(tmp_path: Path) -> None:
    more = [parts.change(8, f"meta/root-coord/aliases/{number}", b"x" * 99) for number in range(2000)]
    bad = parts.change(8, f"meta/datacoord-meta/channel-cp/{SHARD}", b"\x0a\xff")
    write(tmp_path / "dump.json", [parts.dump(9, *more, *store(), bad)])
    found = parts.judged(tmp_path)
    assert [gap.count for gap in found.gaps] == [1]
    assert not any(one.broken for one in found.answers)


def test_a_live_store_that_has_forgotten_its_history(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    kept = parts.dump(9, *FAULTS["no recovery"][0])
    build = ["--build", str(tmp_path)]
    with gateway({"compact_revision": "7"}, kvs=kept["kvs"], revision=9) as address:
        assert app.run(["evidence", "--etcd", address, *build]) == ExitCode.UNEXPECTED_REFUTATION
    assert "a_streaming_node_recovers_each_channel is refuted" in capsys.readouterr().out
