"""Several processes give what one gives; one that dies costs its check alone; none is left behind."""

import json
import os
import re
import signal
import subprocess
import sys
import textwrap

import pytest

from tests.checks.gate import planted
from tests.checks.gate.toy import data, manifest
from tests.processes import ends, lives
from tidemark.checks.gate.resume import earlier_results
from tidemark.checks.gate.run import run
from tidemark.checks.gate.schedule import (
    FILE,
    MIB,
    Due,
    Needs,
    Schedule,
    keep_seconds,
    last_seconds,
    needs_of,
)
from tidemark.checks.gate.settings import Settings
from tidemark.checks.report.files import to_json, to_junit
from tidemark.checks.spark.session import wait_for
from tidemark.checks.verdicts.exit_codes import ExitCode
from tidemark.checks.verdicts.plan import plan
from tidemark.checks.verdicts.progress import Quiet
from tidemark.checks.verdicts.result import TaskResult
from tidemark.models.manifest import Tier
from tidemark.models.rooms import ROOT

ALL = ["prove/any-size", "explore/two-lamps", "explore/careless", "mutate/careless-mutant"]


def judged(build, *, jobs=2, reporter=None, **answers):
    return run(
        plan([manifest()], tier=Tier.FULL),
        registry=planted.registry(**answers),
        settings=Settings(tier="full", build=build, jobs=jobs),
        reporter=reporter,
        method="spawn",  # this process may have a Spark session, and threads
    )


def compared(result):
    """All that must not depend on the number of processes."""
    document = json.loads(to_json(result))
    document.pop("measured")
    return document


class Heard(Quiet):
    """Who was told what."""

    def __init__(self):
        self.lines = []

    def started(self, task):
        def progress(done, *, total=None, unit="", note=""):
            self.lines.append(("progress", task.name, done, total, unit))

        self.lines.append(("started", task.name))
        return progress

    def judged(self, task, found, *, seconds):
        self.lines.append(("judged", task.name))


class TestPool:
    def test_the_result_is_that_of_one_process(self, tmp_path):
        one, two = judged(tmp_path / "1", jobs=1), judged(tmp_path / "2", jobs=2)
        assert one.exit_code is ExitCode.AS_EXPECTED
        assert compared(one) == compared(two)
        assert list(two.task_seconds) == ALL
        names, again = (re.findall(r'<testcase[^>]* name="([^"]*)"', to_junit(found)) for found in (one, two))
        assert len(names) == len(again) > 0
        assert names == again
        assert two.processor_seconds > 0

    def test_progress_and_results_are_told(self, tmp_path):
        heard = Heard()
        judged(tmp_path, reporter=heard)
        for name in ALL:
            mine = [line[0] for line in heard.lines if line[1] == name]
            assert mine[0] == "started"
            assert mine[-1] == "judged"
            assert "progress" in mine

    @pytest.mark.parametrize(
        ("fault", "code", "words"),
        [
            ("kills_itself", ExitCode.INCONCLUSIVE, "was killed by signal 9 (SIGKILL)"),
            ("crashes", ExitCode.INTERNAL_ERROR, "was killed by signal 11 (SIGSEGV)"),
            ("leaves", ExitCode.INTERNAL_ERROR, "ended with exit status 9"),
        ],
    )
    def test_a_process_that_dies_costs_its_check_alone(self, tmp_path, fault, code, words):
        result = judged(tmp_path, explore=fault)
        (why,) = result.unjudged
        assert (why.task, why.exit_code) == ("explore/two-lamps", code)
        assert words in why.message
        assert why.replay.endswith("--only explore/two-lamps")
        assert result.exit_code is code
        assert result.done == 4
        found = {j.verdict.subject.instance for j in result.judgements}
        assert found == {"any-size", "careless", "careless-mutant"}
        assert "explore/two-lamps" not in earlier_results(Settings(build=tmp_path))

    def test_exceptions_are_said_as_by_one_process(self, tmp_path):
        one, two = (judged(tmp_path / str(jobs), jobs=jobs, explore="breaks") for jobs in (1, 2))
        assert [u.exit_code for u in two.unjudged] == [ExitCode.MISSING_TOOL, ExitCode.INTERNAL_ERROR]
        assert compared(one) == compared(two)
        assert "boom" in (tmp_path / "2" / "tracebacks.txt").read_text(encoding="utf-8")

    def test_a_search_beside_others_has_one_thread_and_a_share_of_the_memory(self, tmp_path):
        judged(tmp_path / "2", explore="says_its_threads")
        assert (tmp_path / "2" / "use-two-lamps").read_text(encoding="utf-8") == "1 True"
        judged(tmp_path / "1", jobs=1, explore="says_its_threads")
        assert (tmp_path / "1" / "use-two-lamps").read_text(encoding="utf-8") == "None False"


SCRIPT = """
import sys
from pathlib import Path
from tests.checks.gate import planted
from tests.checks.gate.toy import manifest
from tidemark.checks.verdicts.plan import plan
from tidemark.checks.gate.run import run
from tidemark.checks.gate.settings import Settings
from tidemark.models.manifest import Tier
from tidemark.models.rooms import ROOT

if __name__ == "__main__":
    result = run(
        plan([manifest()], tier=Tier.FULL),
        registry=planted.registry(explore=sys.argv[2]),
        settings=Settings(tier="full", build=Path(sys.argv[1]), jobs=2),
    )
    sys.exit(result.exit_code.value)
"""


class TestStop:
    @pytest.mark.parametrize(
        ("sent", "fault"),
        [(signal.SIGINT, "hangs"), (signal.SIGTERM, "hangs"), (signal.SIGKILL, "hangs_deaf")],
    )
    def test_nothing_is_left_behind_and_what_was_found_is_kept(self, tmp_path, sent, fault):
        script = tmp_path / "script.py"
        script.write_text(textwrap.dedent(SCRIPT), encoding="utf-8")
        build = tmp_path / "build"
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        with subprocess.Popen([sys.executable, script, build, fault], env=environment) as process:
            files = [build / f"{planted.STARTED}-{name}" for name in ("two-lamps", "careless")]
            assert wait_for(lambda: all(f.exists() and f.read_text().strip() for f in files), seconds=60)
            others = [int(word) for file in files for word in file.read_text().split()]
            assert all(lives(number) for number in others)
            process.send_signal(sent)
            try:
                status = process.wait(60)
            finally:
                process.kill()  # where it did not end, the test fails and does not wait
        assert status == (ExitCode.STOPPED.value if sent != signal.SIGKILL else -sent)
        assert ends(*others), others
        assert set(earlier_results(Settings(build=build))) == {"prove/any-size"}  # it is the longest by guess


def scheduled(*needs):
    """Two processes and tasks of the toy manifest with these needs: (judge, seconds, MiB, spark, group)."""
    tasks = {task.judge: task for task in plan([manifest()], tier=Tier.FULL)}
    due = [
        Due(place, tasks[judge], Needs(seconds, memory * MIB, spark, group))
        for place, (judge, seconds, memory, spark, group) in enumerate(needs)
    ]
    return Schedule(due, jobs=2, memory=100 * MIB)


def taken(schedule, worker, running):
    """A task for an idle process that must get one."""
    found = schedule.next(worker, running)
    assert found is not None
    return found


class TestSchedule:
    def test_the_longest_comes_first(self):
        schedule = scheduled(("mutate", 1, 1, False, "a"), ("mutate", 3, 1, False, "b"))
        assert [taken(schedule, 0, ()).place, taken(schedule, 1, ()).place] == [1, 0]
        assert schedule.next(0, ()) is None

    def test_a_group_stays_in_its_process_while_there_is_other_work(self):
        needs = [("mutate", 9, 1, False, "a"), ("mutate", 8, 1, False, "a"), ("mutate", 1, 1, False, "b")]
        schedule = scheduled(*needs)
        found = [taken(schedule, 0, ()).place, taken(schedule, 1, ()).place, taken(schedule, 1, ()).place]
        assert found == [0, 2, 1]

    def test_one_process_has_spark(self):
        needs = [("explore", 9, 1, True, "a"), ("explore", 8, 1, True, "b"), ("mutate", 1, 1, False, "c")]
        schedule = scheduled(*needs)
        first = taken(schedule, 0, ())
        assert first.place == 0
        assert taken(schedule, 1, [first]).place == 2
        assert schedule.next(1, [first]) is None
        schedule.gone(0)
        assert taken(schedule, 1, ()).place == 1

    def test_large_ones_do_not_run_at_once(self):
        needs = [("mutate", 9, 60, False, "a"), ("mutate", 8, 60, False, "b"), ("mutate", 1, 10, False, "c")]
        schedule = scheduled(*needs)
        first = taken(schedule, 0, ())
        second = taken(schedule, 1, [first])
        assert (first.place, second.place) == (0, 2)
        assert schedule.next(1, [first]) is None
        assert taken(schedule, 1, ()).place == 1

    def test_proofs_of_a_manifest_run_one_after_another_and_begin_early(self):
        needs = [
            ("prove", 1, 1, False, "a"),
            ("mutate", 5, 1, False, "b"),
            ("prove", 7, 1, False, "c"),
            ("prove", 2, 1, False, "d"),
        ]
        schedule = scheduled(*needs)
        first = taken(schedule, 0, ())
        other = taken(schedule, 1, [first])
        assert (first.place, other.place) == (0, 1)
        assert schedule.next(1, [first]) is None, "the second proof takes over what the first one proves"
        second = taken(schedule, 1, ())
        assert (second.place, schedule.next(0, [second])) == (2, None)
        assert taken(schedule, 0, ()).place == 3
        assert not len(schedule)

    def test_what_is_larger_than_the_machine_runs_alone(self):
        schedule = scheduled(("mutate", 9, 900, False, "a"))
        assert taken(schedule, 0, ()).place == 0

    @pytest.mark.parametrize("large", [("explore", 300, 1, False, "a"), ("explore", 1, 90, False, "a")])
    def test_a_large_search_has_the_machine_at_the_end(self, large):
        needs = [large, ("mutate", 5, 1, False, "b"), ("mutate", 4, 1, False, "c")]
        schedule = scheduled(*needs)
        one, two = taken(schedule, 0, ()), taken(schedule, 1, ())
        assert [one.place, two.place] == [1, 2]
        assert not schedule.is_wide(one)
        assert schedule.next(0, [two]) is None
        last = taken(schedule, 0, ())
        assert last.place == 0
        assert schedule.is_wide(last)
        assert schedule.next(1, [last]) is None
        assert not len(schedule)


class TestEstimates:
    def test_what_was_measured_wins_over_a_guess(self, tmp_path):
        (task,) = plan([manifest()], tier=Tier.FAST, only=["two-lamps"])
        guess = needs_of(task, {}).seconds
        keep_seconds(tmp_path, [TaskResult(task=task.name, seconds=guess + 7)])
        keep_seconds(tmp_path, [TaskResult(task="other", seconds=1)])
        assert needs_of(task, last_seconds(tmp_path)).seconds == pytest.approx(guess + 7, abs=0.01)

    @pytest.mark.parametrize("text", ["", "[1]", '{"a": "x"}', '{"a": null}'])
    def test_a_damaged_file_is_no_knowledge(self, tmp_path, text):
        (tmp_path / FILE).write_text(text, encoding="utf-8")
        assert last_seconds(tmp_path) == {}

    def test_a_mutant_belongs_to_its_host(self):
        content = data()
        content["instance"][0]["engines"] = ["explore", "distribute"]
        tasks = {task.name: task for task in plan([manifest(**content)], tier=Tier.FULL)}
        needs = {name: needs_of(task, {}) for name, task in tasks.items()}
        assert needs["mutate/careless-mutant"].group == needs["explore/two-lamps"].group
        assert needs["explore/careless"].group != needs["explore/two-lamps"].group
        assert [name for name, need in needs.items() if need.spark] == ["distribute/two-lamps"]
        assert needs["distribute/two-lamps"].memory > needs["explore/two-lamps"].memory

    def test_more_states_need_more(self):
        content = data()
        content["instance"][1]["counts"] = {"distinct": 50_000_000}
        small, large = plan([manifest(**content)], tier=Tier.FULL, judge="explore")
        assert needs_of(large, {}).memory > needs_of(small, {}).memory + 2**30
        assert needs_of(large, {}).seconds > 60
