"""Logs that are spoiled in their form are never refuted; what is wrong in a log in order still is."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from random import Random

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.checks.evidence import parts
from tests.checks.evidence.parts import line, ts
from tidemark.checks.evidence.judge import judge_evidence, verdicts
from tidemark.checks.evidence.table.files import find
from tidemark.checks.evidence.table.plain import gather
from tidemark.checks.verdicts.verdict import Outcome

OTHER = f"{parts.CHANNEL}_100v1"
NODE = "datanode/flow_graph_time_tick_node.go:142"


def answered(ms: int, at: int, channel: str = parts.SHARD) -> str:
    return line(ms, NODE, "UpdateChannelCheckpoint success", channel=channel, cpTs=at, cpTime=parts.stamp(ms))


def sought(ms: int, at: int, channel: str = parts.SHARD) -> str:
    message = "channel seek position set from channel checkpoint meta"
    return line(ms, "datacoord/handler.go:258", message, channel=channel, posTs=at, posTime=parts.stamp(ms))


def served(ms: int, at: int, channel: str = parts.SHARD) -> str:
    return line(
        ms, "delegator/delegator_data.go:156", "start to process delete", "DEBUG", channel=channel, ts=at
    )


def proxy(ms: int, what: str, node: int) -> str:
    return line(ms, "rootcoord/timeticksync.go:233", f"{what} timeticksync", serverID=node)


def saved(ms: int, segment: int, at: int, rows: int) -> str:
    points = f'[{{"segmentID":{segment},"position":{{"timestamp":{at}}},"num_of_rows":{rows}}}]'
    return line(
        ms, "datacoord/services.go:524", "receive SaveBinlogPaths request",
        nodeID=5, collectionID=100, segmentID=segment, isFlush=False, checkpoints=points,
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
            saved(times.next(), segment, mark, 3 * round_),
            proxy(times.next(), "Add session for", 10 + round_),
        ]
        lines += [proxy(times.next(), "Remove session from", 10 + round_)]
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


SPOILS = (
    newest_first, reversed_physically, partly_newest_first, older_part_last, sorted_by_text, one_cut, in_json,
    some_out_of_place, pods, pods_without_names, in_an_archive, times_before,
)  # fmt: skip
Spoil = Callable[[list[str], Random], list[str]]


def outcomes(path: Path, lines: list[str]) -> dict[str, Outcome]:
    """Of each monitor the least that is said of it."""
    parts.write(path, [*lines])
    found = judge_evidence(gather(find([path])))
    listed = verdicts(found, instance="x", replay="again")
    return {one.subject.instance.rpartition(":")[2]: one.outcome for one in listed}


def refuted(path: Path, lines: list[str]) -> set[str]:
    return {name for name, outcome in outcomes(path, lines).items() if outcome is Outcome.REFUTED}


def test_the_sound_log_is_judged_and_holds(tmp_path: Path) -> None:
    said = outcomes(tmp_path / "a.log", log(3))
    assert set(said.values()) == {Outcome.HOLDS}
    assert {
        "log-checkpoint", "log-checkpoint-answer", "log-recovery", "log-watermark", "log-service-time",
        "log-service-order", "log-saves", "log-sessions",
    } <= said.keys()  # fmt: skip


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    seed=st.integers(0, 1 << 30),
    step=st.sampled_from((1, 5, 40, 900, 60_000)),
    spoils=st.lists(st.sampled_from(SPOILS), min_size=1, max_size=3),
)
def test_a_sound_log_is_never_refuted(tmp_path: Path, seed: int, step: int, spoils: list[Spoil]) -> None:
    random, lines = Random(seed), log(seed, step=step)
    for spoil in spoils:
        lines = spoil(lines, random)
    assert not refuted(tmp_path / "a.log", lines)


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
    "log-saves": lambda now: [saved(now, 7, ts(now), 99), saved(now + 300, 7, ts(now) - 1, 99)],
    "log-sessions": lambda now: [proxy(now + 300 * number, word, 99) for number, word in enumerate(PROXY)],
}
"""By monitor, lines that it must refute."""


def untouched(lines: list[str], _random: Random) -> list[str]:
    return lines


@settings(max_examples=120, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    seed=st.integers(0, 1 << 30),
    step=st.sampled_from((1, 10, 40)),
    neighbours=st.booleans(),
    name=st.sampled_from([*FAULTS]),
    form=st.sampled_from((untouched, times_before, in_json, newest_first, older_part_last)),
)
def test_what_is_wrong_in_a_log_in_order_is_refuted(
    tmp_path: Path, seed: int, step: int, name: str, form: Spoil, *, neighbours: bool
) -> None:
    """Whatever collectors put before the lines, and although neighbours have changed places before it."""
    random, lines = Random(seed), log(seed, step=step)
    wrong = FAULTS[name](20 * step * len(lines))
    if neighbours:
        lines = pods_without_names(lines, random)
    assert name in refuted(tmp_path / "a.log", form([*lines, *wrong], random))


def inconclusive(path: Path, lines: list[str]) -> str:
    """The reason, the same for all that depends on order."""
    found = judge_evidence(gather(find([parts.write(path, [*lines])])))
    listed = verdicts(found, instance="x", replay="again")
    assert {one.outcome for one in listed} == {Outcome.INCONCLUSIVE}
    (reason,) = {one.reason for one in listed}
    return reason


def test_the_reason_says_how_many_lines_go_back_and_by_how_much(tmp_path: Path) -> None:
    lines = [parts.stored(1000 * number, ts(number)) for number in range(5)]
    said = inconclusive(tmp_path / "a.log", [lines[2], lines[4], lines[3], lines[0], lines[1]])
    assert "a.log: 3 of 5 lines are older than a line before them, by up to 4.000 s, from line 3 on" in said


def test_lines_newest_first_and_blocks_that_do_not_overlap_are_sorted(tmp_path: Path) -> None:
    """The verdict says so, and a breach names the lines as they stand in the file."""
    lines = [parts.stored(1000 * number, ts(number)) for number in range(5)]
    wrong = [*lines, parts.stored(9000, ts(3) - 1)]
    quick = [parts.stored(number // 2, ts(number)) for number in range(8)]
    for log_, what, place in (
        (wrong[::-1], "newest first", 1),
        (wrong[4:] + wrong[:4], "later blocks before earlier ones", 2),
        ([*wrong[4:], *wrong[2:4], *wrong[:2]], "later blocks before earlier ones", 2),
        ([*quick[::-1]], "newest first", 0),
    ):
        read = gather(find([parts.write(tmp_path / "a.log", [*log_])]))
        (answer,) = [one for one in judge_evidence(read).answers if one.monitor == "log-checkpoint"]
        (told,) = answer.reports
        assert told.startswith("a.log was sorted: ")
        assert told.endswith(f"{what}.")
        assert [one.places[-1].line for one in answer.breaches] == [place] * bool(place)


def test_what_is_sorted_may_still_be_of_two_processes(tmp_path: Path) -> None:
    turns = [served(1000 * n, ts(n)).replace(" [ts=", f" [replicaID={n % 2}] [ts=") for n in range(4)]
    said = inconclusive(tmp_path / "a.log", turns[::-1])
    assert (
        "serve by-dev-rootcoord-dml_0_100v0 in turn, in line 3 again, lines counted as their stamps" in said
    )
    lines = [*began(0, 4), parts.stored(900, ts(5)), *began(3000, 5), parts.stored(3900, ts(9))]
    assert outcomes(tmp_path / "b.log", lines[::-1]) == {"log-checkpoint": Outcome.HOLDS}


def test_two_processes_in_one_file_are_named(tmp_path: Path) -> None:
    """Without a prefix their sessions show it, or their channels."""
    lines = [*began(0, 4), *began(10, 5)]
    mixed = [lines[0], lines[2], lines[1], lines[3], parts.stored(20, ts(5)), parts.stored(30, ts(9))]
    said = inconclusive(tmp_path / "a.log", mixed)
    assert "two processes write it: rootcoord is server 4 in line 3, and server 5 in line 4" in said
    again = [*lines, lines[1].replace("rootcoord", "querycoord").replace(parts.stamp(1), parts.stamp(12))]
    said = inconclusive(tmp_path / "b.log", [*again, parts.stored(20, ts(5))])
    assert "server 4 of line 2 is there again in line 5" in said
    apart = [mixed[0], mixed[1], mixed[2], mixed[3].replace("rootcoord", "datanode-5")]
    said = inconclusive(tmp_path / "c.log", [*apart, parts.stored(20, ts(5))])
    assert "two start before server 5 of line 4 and another one have their sessions" in said
    early = [*began(0, 4), began(50, 5)[0], parts.stored(51, ts(5)), began(50, 5)[1], parts.stored(99, ts(9))]
    said = inconclusive(tmp_path / "e.log", early)
    assert "line 4 is not of the one that starts in line 3" in said
    turns = [served(n, ts(n)).replace(" [ts=", f" [replicaID={n % 2}] [ts=") for n in range(4)]
    said = inconclusive(tmp_path / "f.log", turns)
    assert f"replicas 1 and 0 serve {parts.SHARD} in turn, in line 3 again" in said
    channels = [parts.stored(20, ts(5)), parts.stored(30, ts(9), "prod-rootcoord-dml_0_1v0")]
    said = inconclusive(tmp_path / "d.log", channels)
    assert "its channels are of 2 clusters: by-dev, prod" in said


def test_a_restart_is_one_process_after_the_other(tmp_path: Path) -> None:
    lines = [*began(0, 4), parts.stored(20, ts(5)), *began(3000, 5), parts.stored(3020, ts(9))]
    assert outcomes(tmp_path / "a.log", lines) == {"log-checkpoint": Outcome.HOLDS}
    lines.append(parts.stored(9000, ts(7)))
    assert refuted(tmp_path / "a.log", lines) == {"log-checkpoint"}


def test_a_collection_that_is_loaded_again_has_another_replica(tmp_path: Path) -> None:
    turns = [served(n, ts(n)).replace(" [ts=", f" [replicaID={n // 2}] [ts=") for n in range(4)]
    assert outcomes(tmp_path / "a.log", turns) == {"log-service-order": Outcome.HOLDS}


def test_what_does_not_depend_on_order_is_judged(tmp_path: Path) -> None:
    back = line(5, "timeticksync.go:106", "timestamp go back", "DEBUG", source__id=1, prev__ts=9, curr__ts=8)
    said = outcomes(tmp_path / "a.log", [*[parts.stored(1000 * n, ts(n)) for n in (2, 3, 1, 4, 2)], back])
    assert said == {"log-checkpoint": Outcome.INCONCLUSIVE, "log-report-order": Outcome.REFUTED}


def test_each_pod_is_judged_by_itself(tmp_path: Path) -> None:
    lines = pods(log(3), Random(1))
    assert set(outcomes(tmp_path / "a.log", lines).values()) == {Outcome.HOLDS}
    (note,) = judge_evidence(gather(find([tmp_path / "a.log"]))).notes
    assert note.startswith("each writer is judged by itself: a.log (")
    wrong = parts.stored(90_000_000, ts(1))
    prefix = next(one for one in lines if "UpdateChannelCheckpoint done" in one).partition("[2")[0]
    assert refuted(tmp_path / "a.log", [*lines, prefix + wrong]) == {"log-checkpoint"}


def test_prefixes_that_differ_in_every_line_name_nobody(tmp_path: Path) -> None:
    lines = [f"id{number:x}k {parts.stored(1000 * number, ts(number))}" for number in range(20)]
    assert "the prefixes of its lines are 20 different ones" in inconclusive(tmp_path / "a.log", lines)


def test_one_file_out_of_order_leaves_the_others_judged(tmp_path: Path) -> None:
    lines = [parts.stored(1000 * number, ts(number)) for number in range(4)]
    for number in range(3):
        parts.write(tmp_path / f"{number}.log", [*lines, f"part {number}"])
    parts.write(tmp_path / "z.log", [lines[number] for number in (1, 3, 0, 2)])
    found = judge_evidence(gather(find([tmp_path])))
    said = {one.subject.instance: one.outcome for one in verdicts(found, instance="x", replay="again")}
    assert said == {
        "x:log-checkpoint": Outcome.HOLDS,
        "x:left out:log-checkpoint": Outcome.INCONCLUSIVE,
    }


def test_a_damaged_line_concerns_its_own_file_and_what_it_was(tmp_path: Path) -> None:
    lines = [parts.stored(1000 * number, ts(number)) for number in range(4)]
    for number in range(3):
        parts.write(tmp_path / f"{number}.log", [*lines, f"part {number}"])
    sound = [parts.buffer(100, 7), parts.stored(900, ts(800)), parts.fetched(1000, 7, ts(990))]

    def said(cut: str) -> dict[str, Outcome]:
        parts.write(tmp_path / "z.log", [*sound[:1], cut, *sound[1:]])
        found = judge_evidence(gather(find([tmp_path])))
        assert {str(gap) for gap in found.gaps} == {"z.log: lines that cannot be read from 2 on (1)"}
        return {one.subject.instance: one.outcome for one in verdicts(found, instance="x", replay="again")}

    assert said(parts.stored(200, ts(1))[:110]) == {
        "x:log-checkpoint": Outcome.HOLDS,
        "x:left out:log-checkpoint": Outcome.INCONCLUSIVE,
        "x:log-watermark": Outcome.INCONCLUSIVE,
    }
    assert said(parts.flushed(200, 1)[:-1]) == {
        "x:log-checkpoint": Outcome.HOLDS,
        "x:log-watermark": Outcome.HOLDS,
    }


def test_a_line_that_is_missing_may_be_the_reason_of_a_breach(tmp_path: Path) -> None:
    """The checkpoint was stored: the line that says so is cut."""
    lines = [parts.stored(0, ts(0)), parts.stored(900, ts(800))[:-40], answered(901, ts(800))]
    assert outcomes(tmp_path / "a.log", lines)["log-checkpoint-answer"] is Outcome.INCONCLUSIVE
    lines[1] = line(900, "proxy/impl.go:9", "all is well", note="x")[:-3]
    assert refuted(tmp_path / "a.log", lines) == {"log-checkpoint-answer"}
