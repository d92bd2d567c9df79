"""Each monitor accepts a sound run and finds a planted fault in it; every claim says how it is judged."""

import json
from pathlib import Path

import pytest

from tests.checks.evidence import parts
from tests.checks.evidence.parts import SHARD, line, message, of, sound, ts
from tests.checks.evidence.spoiled import FAULTS as IN_LOGS
from tests.checks.evidence.spoiled import answered, appended, proxy, saved, served, sought
from tests.checks.evidence.test_catalogues import FAULTS as OF_STORES
from tidemark.checks.evidence.claims import (
    _WHY,
    CONSEQUENCE,
    OF_CLIENTS,
    PROTOCOLS,
    abilities,
    lines,
    spec_claims,
)
from tidemark.checks.evidence.histories.claims import CLAIMS
from tidemark.checks.evidence.monitors.base import Answer
from tidemark.checks.evidence.monitors.checkpoints import StoredCheckpoint
from tidemark.checks.evidence.monitors.run import MONITORS, judge, rows
from tidemark.checks.evidence.monitors.run import ordered as in_order

LOG, BROKER, STORE, CLIENT = "logs/standalone.log", "broker.ndjson", "etcd.ndjson", "history-w1.ndjson"


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return sound(tmp_path)


def add(path: Path, *more: object) -> None:
    text = "".join((one if isinstance(one, str) else json.dumps(one)) + "\n" for one in more)
    path.write_text(path.read_text() + text)


def test_a_sound_run_raises_no_alarm(run: Path) -> None:
    found = parts.judged(run)
    assert [(one.monitor, one.breaches) for one in found.answers if one.broken] == []
    assert [(one.monitor, one.unsure) for one in found.answers if one.unsure] == []
    assert not found.gaps
    assert not found.problems
    assert len([one for one in found.answers if one.events]) >= 18


def refuted(folder: Path, monitor: str, place: str) -> Answer:
    answer = of(folder, monitor)
    assert answer.broken == 1
    assert str(answer.breaches[0].places[-1]).startswith(place)
    return answer


def test_what_is_read_again_is_not_late(run: Path) -> None:
    """A query node begins at an old position; meanwhile the data node stores a checkpoint and a flush."""
    log = run / LOG
    add(log, parts.begun(5000, ts(800)), parts.stored(5100, ts(4000)), parts.flushed(5150, 8))
    add(log, parts.fetched(5200, 8, ts(2000)), parts.fetched(5210, 8, ts(3000)))
    assert not of(run, "log-watermark").broken
    assert not of(run, "log-flushed-segment").broken
    # It was stored before the node began, or the node has caught up since: that is late.
    add(log, parts.fetched(5220, 8, ts(700)))
    refuted(run, "log-watermark", "logs/standalone.log:13")
    log.write_text("\n".join(log.read_text().splitlines()[:-1]) + "\n")
    add(log, parts.fetched(5300, 9, ts(5290)), parts.buffer(5310, 9), parts.fetched(5400, 8, ts(3000)))
    refuted(run, "log-watermark", "logs/standalone.log:15")
    refuted(run, "log-flushed-segment", "logs/standalone.log:15")


def test_a_fetch_whose_channel_is_named_later(run: Path) -> None:
    add(run / LOG, parts.fetched(1100, 9, ts(700)), parts.stored(1200, ts(1000)))
    assert not of(run, "log-watermark").broken
    add(run / LOG, parts.buffer(1300, 9))
    refuted(run, "log-watermark", "logs/standalone.log:8")


def test_a_fetch_below_the_service_time(run: Path) -> None:
    add(run / LOG, served(1100, ts(1090)), parts.fetched(1110, 8, ts(1080)))
    refuted(run, "log-service-time", "logs/standalone.log:9")
    add(run / LOG, served(1120, ts(1000)))
    refuted(run, "log-service-order", "logs/standalone.log:10")


def test_a_new_coordinator_may_begin_lower(run: Path) -> None:
    assert any("repeats" in text for text in of(run, "broker-ticks").reports)
    add(run / "broker.ndjson", message(7, "tick", ts(995), source=2))
    answer = of(run, "broker-ticks")
    assert not answer.broken
    assert any("new coordinator" in text for text in answer.reports)
    add(run / "broker.ndjson", message(8, "tick", ts(994), source=2))
    refuted(run, "broker-ticks", "broker.ndjson:8")


def test_a_tick_ahead_of_the_oracle(run: Path) -> None:
    broker = run / "broker.ndjson"
    broker.write_text(broker.read_text().replace(str(ts(800)), str(ts(3001))))
    refuted(run, "ticks-issued", "broker.ndjson:4")


def test_a_checkpoint_that_stays_behind(run: Path) -> None:
    add(run / "etcd.ndjson", parts.window(8, 700_000))
    assert not of(run, "store-checkpoint-lag").broken
    add(run / "etcd.ndjson", parts.window(9, 800_000), parts.window(10, 803_000))
    refuted(run, "store-checkpoint-lag", "etcd.ndjson:9")


def test_where_recovery_begins(run: Path) -> None:
    log = run / LOG
    add(log, sought(1100, ts(800)), sought(1200, ts(700)))
    answer = of(run, "log-recovery")
    assert not answer.broken
    assert any("below" in text for text in answer.reports)
    add(log, sought(1300, ts(850)))
    refuted(run, "log-recovery", "logs/standalone.log:10")
    add(log, parts.stored(1301, ts(820)))  # another one, and still below where recovery began
    refuted(run, "log-recovery", "logs/standalone.log:10")
    add(log, parts.stored(1302, ts(850)))  # the line comes a moment after the fact
    assert not of(run, "log-recovery").broken


def test_deletes_of_a_flushed_segment_move_its_position(run: Path) -> None:
    add(run / "etcd.ndjson", parts.segment(8, 7, 4, 3, ts(600)))
    answer = of(run, "store-flushed")
    assert not answer.broken
    assert any("moves on" in text for text in answer.reports)
    add(run / "etcd.ndjson", parts.segment(9, 7, 4, 3, ts(400)))
    refuted(run, "store-flushed", "etcd.ndjson:9")


def test_binlogs_are_recorded_once(run: Path) -> None:
    add(run / "etcd.ndjson", parts.binlog(8, 7, 6, 41, 42))
    answer = refuted(run, "store-binlogs", "etcd.ndjson:5")
    assert "hold 6 rows, not 3" in answer.breaches[0].sentence
    add(run / "etcd.ndjson", parts.binlog(9, 8, 3, 41), parts.binlog(10, 7, 3, 41))
    refuted(run, "store-binlogs", "etcd.ndjson:9")


def test_older_versions_number_the_files_of_all_fields_alike(run: Path) -> None:
    add(run / "etcd.ndjson", parts.binlog(8, 7, 3, 41, field=101))
    assert not of(run, "store-binlogs").broken
    add(run / "etcd.ndjson", parts.binlog(9, 8, 3, 41, field=101))
    refuted(run, "store-binlogs", "etcd.ndjson:9")


def test_saves_in_order(run: Path) -> None:
    log = run / LOG
    add(log, saved(1100, 7, ts(300), 2), saved(1200, 7, ts(400), 3, "true"), saved(1300, 7, ts(450), 3))
    assert not of(run, "log-saves").broken  # deletes of a flushed segment are saved too
    add(log, saved(1400, 7, ts(460), 4))
    refuted(run, "log-saves", "logs/standalone.log:11")


def test_a_checkpoint_past_rows_that_no_save_has(run: Path) -> None:
    lines = [parts.buffer(100, 7), parts.fetched(120, 7, ts(110)), saved(200, 7, ts(110), 3)]
    lines += [parts.stored(300, ts(200)), parts.fetched(1000, 7, ts(990)), parts.stored(1100, ts(989))]
    log = parts.write(run / LOG, lines)
    assert (of(run, "log-unsynced").events, of(run, "log-unsynced").broken) == (1, 0)
    add(log, parts.stored(1200, ts(990)))
    refuted(run, "log-unsynced", "logs/standalone.log:7")


def test_deletes_for_a_segment_that_compaction_has_replaced(run: Path) -> None:
    """The node that saves them counts no rows any more; before compaction that is a loss."""
    log = run / LOG
    replaced = line(
        1250, "datacoord/meta.go:1193", "meta update: alter in memory meta after compaction - complete",
        compact__to__segment__ID=9, compact__from__segment__IDs="[7,8]",
    )  # fmt: skip
    add(
        log,
        saved(1100, 7, ts(300), 2),
        saved(1200, 7, ts(400), 3, "true"),
        replaced,
        saved(1300, 7, ts(450), 0),
    )
    assert not of(run, "log-saves").broken
    add(log, saved(1400, 7, ts(460), 4))
    refuted(run, "log-saves", "logs/standalone.log:12")
    lines = [text for text in log.read_text().splitlines() if text != replaced][:-1]
    log.write_text("\n".join(lines) + "\n")
    refuted(run, "log-saves", "logs/standalone.log:10")


def test_a_flush_is_done_when_all_is_flushed(run: Path) -> None:
    log = run / LOG
    add(log, line(
        1100, "datacoord/services.go:144", "flush response with segments",
        collectionID=100, sealSegments="[8]", flushTs=parts.stamp(700),
    ))  # fmt: skip
    done = line(1300, "d/s.go:1", "GetFlushState all flushed", collection=100, flushTs=parts.stamp(700))
    kept = log.read_text()
    add(log, done)
    refuted(run, "log-flush", "logs/standalone.log:9")
    log.write_text(kept)
    what = "meta update: update flush segments info - update flush segments info successfully"
    as_8 = [saved(1120, 8, ts(690), 3, "true"), line(1150, "d/m.go:1", what, segmentID=8)]
    add(log, *as_8, done)  # what it had is stored; only its state is called flushed a moment later
    assert not of(run, "log-flush").broken
    log.write_text(kept)
    add(log, as_8[0], done)
    refuted(run, "log-flush", "logs/standalone.log:10")
    log.write_text(kept)
    add(log, parts.flushed(1200, 8), done)
    assert not of(run, "log-flush").broken
    add(log, done.replace(parts.stamp(700), parts.stamp(900)))
    refuted(run, "log-flush", "logs/standalone.log:11")


def test_sessions(run: Path) -> None:
    add(run / "etcd.ndjson", parts.session(8, "proxy-2", 2), parts.session(9, "proxy-2", 2, "delete"))
    assert not of(run, "store-sessions").broken
    add(run / "etcd.ndjson", parts.session(10, "proxy-2", 2), parts.session(11, "rootcoord", 3))
    refuted(run, "store-sessions", "etcd.ndjson:10")
    refuted(run, "store-leader", "etcd.ndjson:11")


def test_a_flush_between_the_question_for_a_position_and_the_sought(run: Path) -> None:
    """A reader takes its position from a moment before; what it reads again is no late row of the segment."""
    log = run / LOG
    add(log, parts.stored(4900, ts(4000)), parts.flushed(4950, 8), parts.begun(5000, ts(800)))
    add(log, parts.fetched(5100, 8, ts(900)), parts.fetched(5150, 8, ts(1100)))
    for monitor in ("log-flushed-segment", "log-watermark"):
        assert not of(run, monitor).broken
    add(log, parts.fetched(5200, 9, ts(5190)), parts.buffer(5210, 9), parts.fetched(5300, 8, ts(1200)))
    for monitor in ("log-flushed-segment", "log-watermark"):
        refuted(run, monitor, "logs/standalone.log:15")


def test_a_removed_proxy_that_is_known_again(run: Path) -> None:
    late = line(
        1300, "rootcoord/root_coord.go:1604", "failed to updateTimeTick", "WARN",
        error="skip ChannelTimeTickMsg from un-recognized session 2",
    )  # fmt: skip
    add(run / LOG, proxy(1100, "Add session for", 2), proxy(1200, "Remove session from", 2), late)
    answer = of(run, "log-sessions")
    assert not answer.broken
    assert any("lives on" in text for text in answer.reports)
    add(run / LOG, proxy(1400, "Add session for", 2))
    refuted(run, "log-sessions", "logs/standalone.log:11")


def test_the_log_of_a_streaming_node(run: Path) -> None:
    """Ids order the messages, whatever the order of the lines and whichever node wrote them."""
    wal = [appended(5, "7/10", "INSERT", ts(7)), appended(4, "7/9", "TIME_TICK", ts(6))]
    log = parts.write(run / "logs" / "node.log", [*wal, appended(6, "7/8", "INSERT", ts(5))])
    assert of(run, "log-wal").broken == 0
    add(run / LOG, appended(9, "8/1", "DELETE", ts(6), term=7))
    assert (
        "term 7, comes 0.000 s behind a tick of term 8"
        in refuted(run, "log-wal", "logs/st").breaches[0].sentence
    )
    add(log, appended(9, "8/1", "DELETE", ts(9)))
    assert "they are of two logs" in next(iter(of(run, "log-wal").unsure))


def test_an_earlier_term_behind_a_later_one(run: Path) -> None:
    """Above the tick it breaks no promise, but the log did not refuse it; a tick of it breaks another one."""
    wal = [appended(4, "7/9", "TIME_TICK", ts(6)), appended(5, "7/10", "INSERT", ts(7), term=7)]
    log = parts.write(run / "logs" / "node.log", wal)
    answer = of(run, "log-wal")
    assert (answer.broken, answer.events) == (0, 1)
    assert "term 7, stands behind one of term 8" in next(iter(answer.reports))
    add(log, appended(6, "7/11", "TIME_TICK", ts(5), term=7))
    assert "term 7, goes back by 0.001 s behind one of term 8" in (
        refuted(run, "log-wal-ticks", "logs/node.log:3").breaches[0].sentence
    )


@pytest.mark.parametrize("other", ["0/5", "458000000000000000"])
def test_ids_of_two_brokers_have_no_common_order(run: Path, other: str) -> None:
    """The log of the channel was changed: what one broker counts, the other one does not."""
    wal = [appended(4, "77", "TIME_TICK", ts(6)), appended(5, other, "INSERT", ts(5))]
    parts.write(run / "logs" / "node.log", wal)
    answer = of(run, "log-wal")
    assert answer.broken == answer.events == 0
    assert "ids of two kinds of broker" in next(iter(answer.unsure))


def test_what_a_sound_log_tells_beside_its_verdict(tmp_path: Path) -> None:
    refused = line(
        5, "rootcoord/root_coord.go:1598", "failed to updateTimeTick", "WARN",
        error="skip ChannelTimeTickMsg from un-recognized session 617",
    )  # fmt: skip
    parts.write(tmp_path / "a.log", [parts.stored(800_000, ts(0)), parts.stored(900_000, ts(1)), refused])
    told = {name: [*one.reports] for (name, _), one in parts.answers(tmp_path).items() if one.reports}
    assert "lags by 900 s behind the clock of its line" in told["log-checkpoint"][0]
    assert "refuses the reports of proxy 617" in told["log-sessions"][0]


BACK = '[timeticksync.go:106] ["timestamp go back"] ["source id"=1]'
FAULTS: dict[str, tuple[str, list[object], dict[str, int], str]] = {
    "a late message": (
        BROKER, [message(7, "insert", ts(999), rows=2, segment=8)],
        {"broker-watermark": 7}, f"{BROKER}:6 tick",
    ),
    "a message at a tick": (BROKER, [message(7, "delete", ts(1000))], {"broker-watermark": 7}, ""),
    # Another coordinator begins lower: what is between its tick and the highest one is late as well.
    "a lower tick takes no promise back": (
        BROKER, [message(7, "tick", ts(900), source=2), message(8, "insert", ts(950), rows=2, segment=8)],
        {"broker-watermark": 8}, f"{BROKER}:6 tick",
    ),
    "a tick that goes back": (BROKER, [message(7, "tick", ts(995))], {"broker-ticks": 7}, ""),
    "rows that no binlog holds": (
        BROKER, [message(7, "insert", ts(700), rows=2, segment=7, shard=SHARD)], {"rows-recorded": 7}, "",
    ),
    "a late fetch": (LOG, [parts.fetched(1100, 8, ts(800))], {"log-watermark": 8}, f"{LOG}:4"),
    "a row below the position from which it is read": (
        LOG, [parts.begun(5000, ts(980)), parts.fetched(5100, 8, ts(970))], {"log-watermark": 9}, "",
    ),
    "another channel's checkpoint": (
        LOG,
        [parts.stored(1050, ts(2000), SHARD.replace("dml_0", "dml_1")), parts.fetched(1100, 8, ts(1200))],
        {}, "",
    ),
    **{f"a flush that is reset by {what}": (LOG, [
        line(1100, "datanode/ddn.go:9", "receive manual flush message", channel=SHARD, flushTs=at),
        line(1200, "writebuffer/manager.go:9", "reset channel flushTs", channel=SHARD),
        parts.stored(1300, mark), answered(1301, mark),
    ], found, "") for what, at, mark, found in (
        ("a lower checkpoint", ts(1000, 3), ts(1000, 2), {"log-flush-reset": 9}),
        ("an equal one", ts(1000, 2), ts(1000, 2), {"log-flush-reset": 9}),
        ("one that may be greater", ts(1000), ts(1000), {}),
    )},
    **{f"an oracle that starts at {first} in the window before": (LOG, [line(
        1100, "tso/tso.go:122", "sync and save timestamp",
        last=parts.stamp(5000), save=parts.stamp(7990), next=parts.stamp(first),
    )], {"log-oracle-start": 8}, "") for first in (4990, 5000)},
    "reports that go back": (LOG, [
        f'[{parts.stamp(1100)}] [DEBUG] {BACK} ["prev ts"={ts(1090)}] ["curr ts"={ts(1080)}]',
    ], {"log-report-order": 8}, ""),
    "windows, and what is stored": (
        STORE, [parts.window(8, 5000), parts.checkpoint(9, ts(6001))],
        {"store-window": 8, "store-issued": 9}, "",
    ),
    "a checkpoint that goes back": (STORE, [parts.checkpoint(8, ts(700))], {"store-checkpoint": 8}, ""),
    "what follows a flush": (STORE, [parts.segment(8, 7, 4, 5, ts(600))], {"store-flushed": 8}, ""),
    "a flushed segment may be dropped": (STORE, [parts.segment(8, 7, 6, 3, ts(500))], {}, ""),
    "a timestamp twice": (
        CLIENT, [parts.op(7, "insert", 7000, keys=[[20, 21]], ts=ts(101, 1))], {"client-unique": 8}, "",
    ),
}  # fmt: skip
"""What is added to a file of a sound run; the monitors that find it, with the line of each; its first one."""


@pytest.mark.parametrize("name", FAULTS)
def test_an_added_line_is_found_or_allowed(run: Path, name: str) -> None:
    file, lines, found, first = FAULTS[name]
    add(run / file, *lines)
    for monitor, place in found.items():
        answer = refuted(run, monitor, f"{file}:{place}")
        assert str(answer.breaches[0].places[0]).startswith(first)
    if not found:
        assert [one.monitor for one in parts.judged(run).answers if one.broken] == []


def test_a_flush_without_timestamp_is_no_damage(run: Path) -> None:
    """Lines of 2.3.0."""
    order = line(1001, "datacoord/services.go:128", "flush response with segments", collectionID=100,
                 sealSegments="[7]", flushSegments="[]", timeOfSeal=parts.stamp(1000))  # fmt: skip
    asked = "DataCoord receive GetFlushState request, Flushed is false"
    add(run / LOG, order, line(1002, "datacoord/services.go:1288", asked, unflushed="[7]", len=1))
    assert not parts.judged(run).gaps


def test_every_monitor_has_a_fault_that_it_finds() -> None:
    """The tables and the tests above name them all."""
    named = IN_LOGS.keys() | {name for _, _, found, _ in FAULTS.values() for name in found}
    named |= {"store-orphans"} | {monitor for _, monitor, _ in OF_STORES.values()}
    text = Path(__file__).read_text()
    assert [one.name for one in MONITORS if not (one.name in named or f'(run, "{one.name}"' in text)] == []


def test_memory_can_be_written_down(run: Path) -> None:
    """A monitor that goes on from what it wrote down says the same."""
    add(run / "broker.ndjson", message(7, "insert", ts(999), rows=2, segment=8))
    add(run / LOG, parts.fetched(1100, 7, ts(800)), parts.fetched(1200, 9, ts(1)))
    events = parts.read(run).events.table()
    whole = {one.monitor: one for one in judge_all(events)}
    halves = {one.monitor: one for one in judge_all(events, parts_of=3)}
    assert whole == halves


def judge_all(events, parts_of: int = 1):
    from tidemark.checks.evidence.monitors.distribute import of_kinds

    for kind in MONITORS:
        mine = in_order(of_kinds(events, kind.kinds), kind.within)
        monitor = kind()
        size = mine.num_rows // parts_of + 1
        for start in range(0, mine.num_rows, size):
            fresh = kind()
            fresh.restore(json.loads(json.dumps(monitor.state())))
            monitor = fresh
            monitor.feed(rows(mine.slice(start, size), kind.columns))
        yield monitor.close()


def test_breaches_of_several_channels_are_counted_together() -> None:
    """Two channels go back, three times and four times: one monitor for both says what two say together."""
    events = [
        ("etcd.ndjson", 10 * step + number, channel, ts(100 - step))
        for number, channel, steps in ((0, "east", 4), (1, "west", 5))
        for step in range(steps)
    ]
    whole, joined = StoredCheckpoint(), Answer(StoredCheckpoint.name, StoredCheckpoint.property_id)
    whole.feed(sorted(events, key=lambda event: event[1]))
    for channel, broken in (("east", 3), ("west", 4)):
        part = StoredCheckpoint()
        part.feed(event for event in events if event[2] == channel)
        assert part.close().broken == broken
        joined.add(part.close())
    assert joined.broken == 7
    assert joined == whole.close()


def test_the_order_of_files_does_not_matter(run: Path) -> None:
    events = parts.read(run).events.table()
    backwards = events.take(list(range(events.num_rows))[::-1])
    assert judge(events) == judge(backwards)


def test_every_claim_of_every_protocol_has_its_line() -> None:
    listed = list(abilities())
    assert [one.claim for one in listed] == [claim.id for claim in spec_claims()]
    assert {one.claim.partition(".")[0] for one in listed} == set(PROTOCOLS)
    assert [
        one.claim for one in listed if bool(one.by) == bool(one.missing) and one.kind != "reachable"
    ] == []
    assert all(one.missing for one in listed if one.kind == "reachable")
    assert len([one for one in listed if one.by]) >= 18


def test_nothing_is_said_of_claims_that_there_are_not() -> None:
    known = {claim.id for claim in spec_claims()}
    assert not set(_WHY) & set(CONSEQUENCE)
    assert set(_WHY) | set(CONSEQUENCE) <= known
    assert set(OF_CLIENTS) <= known
    assert set(OF_CLIENTS.values()) <= CLAIMS.keys()
    by = {one.claim for one in abilities() if one.by} | CLAIMS.keys() | {one.property_id for one in MONITORS}
    assert [one for one in CONSEQUENCE.values() if not by.issuperset(one.split(" and "))] == []
    judged = {one.property_id for one in MONITORS if not one.property_id.startswith("catalogue.")}
    assert judged <= known
    assert not judged & (set(_WHY) | set(CONSEQUENCE))


def test_every_protocol_of_the_repository_is_there() -> None:
    spec = Path(__file__).parents[3] / "spec"
    folders = {path.parent.name for path in spec.glob("*/actions.py")}
    assert set(PROTOCOLS) == folders


def test_names_are_unique() -> None:
    assert len({one.name for one in MONITORS}) == len(MONITORS)
    assert all(one.rule.endswith(".") and set(one.needs) <= set(one.kinds) for one in MONITORS)
    assert any("history.kept" in line for line in lines())
