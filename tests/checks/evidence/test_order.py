"""Logs that are spoiled in their form are never refuted; what is wrong in a log in order still is."""

from pathlib import Path
from random import Random

import pytest

from tests.checks.evidence import parts
from tests.checks.evidence.parts import line, ts
from tests.checks.evidence.spoiled import (
    PLANTS,
    SPOILS,
    Case,
    answered,
    began,
    case,
    log,
    mistake,
    pods,
    served,
    tried,
)
from tidemark.checks.evidence.judge import judge_evidence, verdicts
from tidemark.checks.evidence.table.files import find
from tidemark.checks.evidence.table.plain import gather
from tidemark.checks.verdicts.verdict import Outcome


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
        "log-service-order", "log-saves", "log-sessions", "log-wal-checkpoint",
    } <= said.keys()  # fmt: skip


def test_a_verdict_depends_on_the_content_and_not_on_the_form() -> None:
    """Runs of a simulated cluster, spoiled in their form, and every second one in its content.

    ``python -m tests.checks.evidence.spoiled 10000`` tries more of them.
    """
    count = tried(range(150))
    assert [what for what in count if what.startswith("seed")] == []
    assert min(count["sound holds"], count["sound inconclusive"], count["faulty inconclusive"]) > 10
    assert count["faulty refuted"] > 50
    told = " ".join(case(seed).says for seed in range(1000))
    assert [name for name in PLANTS if f"{name} " not in told] == []
    assert [one.__name__ for one in SPOILS if f" {one.__name__}" not in told] == []


@pytest.mark.parametrize(
    ("wrong", "kept", "said", "told"),
    [
        ("", False, {"log-wal": Outcome.REFUTED}, "false alarm"),
        ("", False, {"log-wal": Outcome.INCONCLUSIVE}, ""),
        ("", True, {"log-wal": Outcome.INCONCLUSIVE}, "not judged"),
        ("log-wal", False, {"log-wal": Outcome.HOLDS}, "not found"),
        ("log-wal", True, {"log-wal": Outcome.INCONCLUSIVE}, "not found"),
        ("log-wal", True, {"log-wal": Outcome.HOLDS, "log-flush": Outcome.REFUTED}, "not found"),
        ("log-wal", False, {"log-wal": Outcome.HOLDS, "": Outcome.INCONCLUSIVE}, ""),
    ],
)
def test_what_a_wrong_answer_is(wrong: str, kept: bool, said: dict[str, Outcome], told: str) -> None:
    assert mistake(Case({}, wrong, kept, ""), said).partition(":")[0] == told


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
