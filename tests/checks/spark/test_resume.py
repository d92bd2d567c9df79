"""A stopped search goes on, a damaged or a strange directory is refused. Without Spark: the files are the
same.
"""

import dataclasses
import json

import pytest

from tests.checks.spark.opponents import GRID, LAMPS, TWO_PHASE, distributed, make, summary
from tidemark.checks.spark.search.breadth_first import RoundLimits, Search
from tidemark.checks.spark.search.native_kernel import FACTORY
from tidemark.checks.spark.search.run_directory import RunDirectory
from tidemark.checks.spark.states.level_log import CorruptFileError, read
from tidemark.checks.verdicts.errors import BadInputError


def again(folder, instance, partitions=None):
    return RunDirectory.resume(folder, instance, factory=FACTORY, partitions=partitions)


class StopAt(Exception):
    pass


def stopped_run(folder, instance, *, rounds, partitions=2):
    """A search that is stopped from outside after some rounds."""

    def stop(done):
        if done.depth == rounds:
            raise StopAt

    with pytest.raises(StopAt):
        Search(make(folder, instance, partitions=partitions)).run(stop)


@pytest.mark.parametrize("rounds", [1, 4, 9])
def test_a_stopped_search_ends_with_the_counts_of_an_unbroken_one(tmp_path, rounds):
    stopped_run(tmp_path / "run", TWO_PHASE, rounds=rounds)
    directory = again(tmp_path / "run", TWO_PHASE)
    assert directory.complete_rounds() == rounds + 1
    shown = []  # type: ignore[var-annotated]
    found = summary(Search(directory).run(shown.append))
    assert found == summary(distributed(tmp_path / "whole", TWO_PHASE))
    assert shown[0].depth == rounds + 1


def test_a_finished_search_is_not_run_again(tmp_path):
    first = distributed(tmp_path / "run", GRID)
    result = Search(again(tmp_path / "run", GRID)).run()
    assert summary(result) == summary(first)
    assert result.rounds == []


def test_a_half_written_round_is_done_again(tmp_path):
    stopped_run(tmp_path / "run", TWO_PHASE, rounds=6)
    directory = again(tmp_path / "run", TWO_PHASE)
    directory.store.log_path(6, 1).unlink()
    (directory.store.folder(0) / ".level-000007.bin.1.abc.tmp").write_bytes(b"cut off")
    assert directory.complete_rounds() == 6
    directory.keep(6)
    assert not list((tmp_path / "run").rglob("*.tmp"))
    assert summary(Search(directory).run()) == summary(distributed(tmp_path / "whole", TWO_PHASE))


def test_limits_make_a_result_that_says_so_and_can_go_on(tmp_path):
    directory = make(tmp_path / "run", TWO_PHASE)
    cut = Search(directory, limits=RoundLimits(max_depth=3)).run()
    assert cut.stopped == "stopped at depth 3, the limit"
    few = Search(directory, limits=RoundLimits(max_states=300)).run()
    assert few.stopped == f"stopped after {few.distinct} states, at the limit of 300"
    assert few.distinct >= 300
    assert "limit of 0 s" in Search(directory, limits=RoundLimits(max_seconds=0)).run().stopped
    assert summary(Search(directory).run()) == summary(distributed(tmp_path / "whole", TWO_PHASE))


def damaged(path, *, at=-5):
    content = bytearray(path.read_bytes())
    content[at] ^= 0x10
    path.write_bytes(bytes(content))


def test_a_damaged_file_is_named_with_the_round_before_it(tmp_path):
    stopped_run(tmp_path / "run", TWO_PHASE, rounds=8)
    directory = again(tmp_path / "run", TWO_PHASE)
    path = directory.store.log_path(5, 1)
    damaged(path)
    with pytest.raises(CorruptFileError) as caught:
        directory.verify(directory.complete_rounds())
    assert str(path) in str(caught.value)
    assert "resume from round 4" in caught.value.remedy
    directory.keep(5)
    directory.verify(5)
    assert summary(Search(directory).run()) == summary(distributed(tmp_path / "whole", TWO_PHASE))


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda content: b"", "it is empty"),
        (lambda content: content[:10], "it ends after 10 bytes"),
        (lambda content: b"X" + content[1:], "it begins with"),
        (lambda content: content[:40] + b"X" + content[41:], "its header does not match"),
        (lambda content: content[:-8], "bytes of states instead of"),
        (lambda content: content[:-1] + bytes([content[-1] ^ 1]), "its states do not match"),
    ],
)
def test_every_kind_of_damage_is_noticed(tmp_path, change, reason):
    directory = make(tmp_path / "run", LAMPS, partitions=1)
    path = directory.store.log_path(0, 0)
    path.write_bytes(change(path.read_bytes()))
    with pytest.raises(CorruptFileError, match=reason):
        read(path)


def test_a_damaged_frontier_stops_a_running_search(tmp_path):
    directory = make(tmp_path / "run", TWO_PHASE)

    def damage(done):
        if done.depth == 5:
            damaged(directory.store.log_path(5, 0))

    with pytest.raises(CorruptFileError, match="level-000005"):
        Search(directory).run(damage)


def test_a_file_of_another_run_is_refused(tmp_path):
    one = make(tmp_path / "one", LAMPS, partitions=1)
    other = make(tmp_path / "other", LAMPS, partitions=2)
    one.store.log_path(0, 0).write_bytes(other.store.log_path(0, 1).read_bytes())
    with pytest.raises(CorruptFileError, match="belongs to"):
        Search(one).run()


@pytest.mark.parametrize(
    ("other", "partitions", "text"),
    [
        (dataclasses.replace(TWO_PHASE, bounds={"Manager": 5}), None, "bounds"),
        (dataclasses.replace(GRID, name="two-phase"), None, "protocol"),
        (TWO_PHASE, 3, "partitions is 2, not 3"),
    ],
)
def test_the_directory_of_another_search_is_refused(tmp_path, other, partitions, text):
    stopped_run(tmp_path / "run", TWO_PHASE, rounds=2)
    with pytest.raises(BadInputError, match=text):
        again(tmp_path / "run", other, partitions)


def test_a_changed_protocol_is_refused(tmp_path):
    stopped_run(tmp_path / "run", TWO_PHASE, rounds=2)
    path = tmp_path / "run" / "run.json"
    header = json.loads(path.read_text())
    header["spec"] = "0123456789abcdef"
    path.write_text(json.dumps(header))
    with pytest.raises(BadInputError, match="spec is '0123456789abcdef'"):
        again(tmp_path / "run", TWO_PHASE)


def test_an_existing_run_is_never_overwritten(tmp_path):
    make(tmp_path / "run", GRID)
    with pytest.raises(BadInputError, match="holds a run already"):
        make(tmp_path / "run", GRID)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("precious")
    with pytest.raises(BadInputError, match="is not empty"):
        make(tmp_path / "mine", GRID)


def test_nothing_to_resume(tmp_path):
    with pytest.raises(BadInputError, match="holds no run"):
        again(tmp_path / "nowhere", GRID)
    make(tmp_path / "run", GRID)
    with pytest.raises(BadInputError, match="has 1 complete rounds and no round 7"):
        again(tmp_path / "run", GRID).keep(8)
    (tmp_path / "run" / "run.json").write_text("{")
    with pytest.raises(CorruptFileError, match=r"run\.json is corrupt"):
        again(tmp_path / "run", GRID)
