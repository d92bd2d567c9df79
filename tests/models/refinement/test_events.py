"""What a step may be, by the event that begins it: labels, arguments, faults, stutters, work that is left."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.manifests import entry_of
from tidemark.checks.interleave import Options, explore_randomly
from tidemark.checks.interleave.judge import program_of
from tidemark.models.interpreted.interpreter import Step
from tidemark.models.manifest import ManifestError
from tidemark.models.refinement.actions import action_table, load_actions
from tidemark.models.refinement.events import EventRow, EventTable
from tidemark.models.simulation import Event, ProgramRef
from tidemark.models.simulation.loop.lane import Lane
from tidemark.spec.language.protocol import resolve

LANE = Lane("node", incarnation=1, bit=1, daemon=True, clock=0.0)
PARAMS = {"seal": ("segment",), "lose": ("segment", "end"), "tick": ()}
ROWS = (
    EventRow(label="resume seal {segment} *", by="keeper *", actions=("seal",)),
    EventRow(label="deliver * seal", carries={"segment": "1.0"}, actions=("seal",), stutter="it is sealed"),
    EventRow(label="drop node store.save", carries={"end": "0.position.ts"}, actions=("lose",), fault=True),
    EventRow(label="reply *", answer="*REFUSED*", actions=("lose",), cause="it is refused"),
    EventRow(label="reply *", when="late", actions=("tick",)),
)


class Names:
    """Elements are numbers; nothing is late unless said so."""

    def __init__(self, *, late: bool = False) -> None:
        self.late = late

    def element(self, name: str, value: Any) -> Any:
        del name
        return int(value)

    def condition(self, name: str, event: Event) -> bool:
        assert name == "late", event
        return self.late


def event(label, *, owner="", fault=False, arguments=(), answer=""):
    message = SimpleNamespace(arguments=arguments, answer=answer)
    return Event(label, LANE, lambda: None, fault=fault, owner=owner, message=message)


@pytest.mark.parametrize(
    ("one", "names", "text"),
    [
        (event("resume seal 3 node#7", owner="keeper 1"), Names(), "seal(segment=3)"),
        (event("resume seal 3 node#7", owner="thief"), Names(), "a stutter"),
        (event("deliver node@2#1 seal", arguments=("a", (5, 6))), Names(), "seal(segment=5) or a stutter"),
        (
            event(
                "drop node#9 store.save",
                fault=True,
                arguments=(SimpleNamespace(position=SimpleNamespace(ts=4)),),
            ),
            Names(),
            "lose(end=4)",
        ),
        (event("drop node#9 store.save", fault=True), Names(), "no action"),  # shorter than the row says
        (event("drop node#9 store.save"), Names(), "a stutter"),
        (event("reply node#9 save", answer="Outcome.REFUSED"), Names(), "lose()"),
        (event("reply node#9 save", answer="Outcome.DONE"), Names(), "no action"),
        (event("reply node#9 save", answer="Outcome.DONE"), Names(late=True), "tick()"),
        (event("something else"), Names(), "a stutter"),
    ],
)
def test_what_an_event_stands_for(one: Event, names: Names, text: str):
    assert EventTable(ROWS, PARAMS).allowed(one, names).text() == text


def test_an_action_with_other_arguments_is_another_step():
    allowed = EventTable(ROWS, PARAMS).allowed(event("resume seal 3 n#1", owner="keeper 1"), Names())
    assert allowed.permits(Step("seal", (3,)), PARAMS["seal"])
    assert not allowed.permits(Step("seal", (2,)), PARAMS["seal"])
    assert not allowed.permits(Step("lose", (3, 1)), PARAMS["lose"])


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('[stutters]\nx = ""\n', "neither actions nor a reason"),
        ('[steps]\nx = "lose"\n', "'lose', which is a fault"),
    ],
)
def test_a_table_whose_events_cannot_be_used(tmp_path: Path, text: str, said: str):
    path = tmp_path / "actions.toml"
    path.write_text(f'faults = ["lose"]\n{text}', encoding="utf-8")
    with pytest.raises(ManifestError, match=said):
        load_actions(path)


PROGRAMS = {
    "flush": "tidemark.spec.flush:Flush",
    "tso": "tidemark.spec.tso:Tso",
    "proxy": "tidemark.spec.proxy:Proxy",
    "timetick": "tidemark.spec.timetick:TimeTick",
    "ddl": "tidemark.spec.ddl:Ddl",
}


@pytest.mark.parametrize(("name", "protocol"), PROGRAMS.items())
def test_the_parameters_that_events_name_exist(name: str, protocol: str):
    actions = {action.name: {p.name for p in action.params} for action in resolve(protocol).trace().actions}
    for row in action_table(name).event:
        for named in row.carries:
            assert any(named.partition("__")[0] in actions[action] for action in row.actions), row


MUTANTS = "tidemark.models.protocols.{}.mutants.implementation:{}"
FLUSH: dict[str, Any] = {"rows": [1, 0], "flushes": [1]}


@pytest.mark.parametrize(
    ("protocol", "mutant", "arguments", "said"),
    [
        (
            "flush",
            "signal_sends_what_no_flush_waits_for",
            FLUSH,
            "stands for send_by_signal() or a stutter, and what it does is send_by_ticker()",
        ),
        (
            "flush",
            "answer_counts_as_a_failure",
            FLUSH,
            "stands for ack() or fail_with_the_batch(), and what it does is fail_rpc(), although",
        ),
        ("ddl", "only_the_first_task_is_finished", {"tasks": 2, "jobs": 0}, ", and changes nothing"),
        (
            "proxy",
            "scheduler_takes_one_task",
            {"tasks": [["a"], ["b"]], "parallel": 1, "near_oracle": True, "near_logs": True},
            "work_is_done: nothing can happen any more, and task 1 is not over: queued; waiting: proxy",
        ),
    ],
)
def test_a_slip_is_told_in_words_of_its_own(protocol: str, mutant: str, arguments: Any, said: str):
    program = ProgramRef.of(MUTANTS.format(protocol, mutant), **arguments)
    found = explore_randomly(program, seed=1, executions=50, options=Options(stop_at_violation=True))
    assert any(said in violation.message for violation in found.violations), found.violations


def test_a_step_of_an_event_without_a_row_may_only_stutter():
    """Whatever the step does, and although some action of the specification does it."""
    program: Any = ProgramRef.of("tidemark.models.protocols.flush.program:flush", rows=(1,)).load()()
    abstraction = program.abstraction
    before = abstraction.checker.normal(next(iter(abstraction.checker.interpreter.initial())))
    after = next(one.state for one in abstraction.checker.successors(before) if one.state != before)
    strange = event("something else")
    assert abstraction.mislabelled("flush", before, before, strange, program) is None
    wrong = abstraction.mislabelled("flush", before, after, strange, program)
    assert wrong is not None
    assert "stands for a stutter, and what it does is" in wrong


def test_a_program_without_a_table_is_held_against_none_also_after_one_that_has_it():
    """Both share what is known of the specification, whichever runs first in a process."""
    first, second = (program_of(entry_of(name)) for name in ("tso-impl-takeover", "tso-over-etcd"))
    programs = [ref.load()() for ref in (first, second)]
    assert programs[0].abstraction is programs[1].abstraction  # type: ignore[attr-defined]
    assert [program.table for program in programs] == ["tso", None]  # type: ignore[attr-defined]
    for ref in (first, second):
        assert explore_randomly(ref, seed=1, executions=5).violations == {}
