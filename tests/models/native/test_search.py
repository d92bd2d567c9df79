"""The search: known counts, shortest runs, limits, saved searches."""

import signal
from pathlib import Path

import numpy as np
import pytest

from tidemark.models.instance import Instance
from tidemark.models.interpreted.interpreter import Interpreter
from tidemark.models.interpreted.search import Search as PlainSearch
from tidemark.models.native import kernel as kernels
from tidemark.models.native.errors import SavedSearchError
from tidemark.models.native.kernel import compile_kernel
from tidemark.models.native.search.breadth_first import Search, SearchLimits, search
from tidemark.models.native.search.checkpoint import load, save
from tidemark.models.native.search.path import path_to

SMALL = "tests.protocols.small:"


def test_counts_of_seven_managers_are_those_that_other_tools_agree_on() -> None:
    result = search(compile_kernel(Instance(SMALL + "TwoPhase", {"Manager": 7})))
    assert (result.distinct, result.generated, result.depth) == (296_448, 2_744_706, 23)
    assert result.complete
    assert result.out_of_bounds == 0


def test_a_small_search_visits_what_the_interpreter_visits() -> None:
    kernel = compile_kernel(Instance(SMALL + "TwoPhase", {"Manager": 3}))
    result = search(kernel)
    seen = set(kernel.interpreter.initial())
    todo, by_action = list(seen), dict.fromkeys(result.generated_by_action(), 0)
    while todo:
        for transition in kernel.interpreter.successors(todo.pop()):
            by_action[transition.step.action] += 1
            if transition.state not in seen:
                seen.add(transition.state)
                todo.append(transition.state)
    assert set(kernel.codec.unpack_all(result.states)) == seen
    assert result.generated_by_action() == by_action


def test_the_counterexample_is_shortest() -> None:
    kernel = compile_kernel(Instance(SMALL + "DieHard", {"Litre": 5}))
    result = search(kernel)
    hit = result.hit(kernel.instance.spec.property("never_four"))
    assert hit is not None
    run = path_to(result, hit)
    assert len(run.states) == 7
    assert run.states[-1][1] == 4


def test_witness_and_transition_claims_are_found_once_and_shortest() -> None:
    kernel = compile_kernel(Instance(SMALL + "TwoPhase", {"Manager": 2}))
    result = search(kernel)
    spec = kernel.instance.spec
    hit = result.hit(spec.property("commits"))
    assert hit is not None
    run = path_to(result, hit)
    assert [step.action for step in run.steps][-2:] == ["decide_commit", "commit"]
    assert len(run.steps) == 6  # two prepare, two are heard, one decision, one commit
    assert result.hit(spec.property("decision_is_final")) is None


@pytest.mark.parametrize(
    ("claim", "last"), [("hours_never_go_back", ("tick", ())), ("slots_are_taken_in_order", ("jump", (1,)))]
)
def test_a_step_is_judged_wherever_it_leads(claim: str, last: tuple[str, tuple[int, ...]]) -> None:
    """To a state that is known already; of an action that may leave the bounds. Both engines see it."""
    kernel = compile_kernel(Instance("tests.protocols.mazes:Wraps", {"Hour": 3, "Slot": 3}))
    prop = kernel.instance.spec.property(claim)
    result = search(kernel)
    hit = result.hit(prop)
    assert hit is not None
    run = path_to(result, hit)
    assert (run.steps[-1].action, run.steps[-1].args) == last
    found = PlainSearch(kernel.interpreter).run().found[prop.id]
    assert not kernel.interpreter.holds(prop, found.before, found.after)


def test_an_interpreter_that_was_stopped_has_not_seen_all() -> None:
    interpreter = Interpreter(Instance(SMALL + "TwoPhase", {"Manager": 2}))
    whole = PlainSearch(interpreter).run()
    assert whole.complete
    for limit in (1, len(whole.parents) - 1):
        assert not PlainSearch(interpreter, limit=limit).run().complete


def test_deadlocks_are_counted_and_saved(tmp_path: Path) -> None:
    kernel = compile_kernel(Instance(SMALL + "TCommit", {"Manager": 2}))
    whole = Search(kernel)
    totals = whole.run().totals
    assert totals.deadlocks == 2  # all have committed, all have aborted
    assert totals.first_deadlock is not None
    save(whole, tmp_path / "search.npz")
    saved = load(tmp_path / "search.npz", kernel).totals
    assert (saved.deadlocks, saved.first_deadlock) == (2, totals.first_deadlock)


@pytest.mark.parametrize(
    ("limits", "reason"),
    [
        (SearchLimits(states=1000), "limit of 1000 states"),
        (SearchLimits(seconds=0.0), "limit of 0 s"),
        (SearchLimits(memory=200_000), "memory for"),
    ],
)
def test_a_limit_makes_the_search_incomplete(limits: SearchLimits, reason: str) -> None:
    kernel = compile_kernel(Instance(SMALL + "TwoPhase", {"Manager": 6}))
    result = search(kernel, limits=limits)
    assert not result.complete
    assert reason in result.stopped
    assert 0 < result.distinct < 70_000


def test_stopping_at_the_first_violation() -> None:
    kernel = compile_kernel(Instance(SMALL + "DieHard", {"Litre": 5}))
    assert not search(kernel, limits=SearchLimits(stop_at_first=True)).complete


@pytest.mark.parametrize(
    "limits", [SearchLimits(states=5_000), SearchLimits(memory=1_200_000), SearchLimits(seconds=0.0)]
)
def test_a_saved_search_goes_on_to_the_same_end(limits: SearchLimits, tmp_path: Path) -> None:
    kernel = compile_kernel(Instance(SMALL + "TwoPhase", {"Manager": 6}))
    whole, part = search(kernel), Search(kernel, limits)
    stopped = part.run()
    assert not stopped.complete
    save(part, tmp_path / "search.npz")
    result = load(tmp_path / "search.npz", kernel).run()
    assert result.complete
    for name in ("distinct", "generated", "depth", "out_of_bounds"):
        assert getattr(result, name) == getattr(whole, name)
    assert np.array_equal(result.states, whole.states)
    assert np.array_equal(result.visited.links, whole.visited.links)
    assert result.totals.state_hits == whole.totals.state_hits
    assert result.totals.step_hits == whole.totals.step_hits


@pytest.mark.parametrize("place", [0.001, 0.5, 0.9])
def test_a_damaged_search_is_refused(place: float, tmp_path: Path) -> None:
    kernel = compile_kernel(Instance(SMALL + "TwoPhase", {"Manager": 6}))
    part = Search(kernel, SearchLimits(states=5_000))
    part.run()
    file = tmp_path / "search.npz"
    save(part, file)
    content = bytearray(file.read_bytes())
    content[int(place * len(content))] ^= 0xFF
    file.write_bytes(bytes(content))
    with pytest.raises(SavedSearchError, match="start a new search"):
        load(file, kernel)


@pytest.mark.parametrize(("size", "symmetry"), [(5, ()), (6, ("Manager",))])
def test_a_search_of_another_instance_is_refused(
    size: int, symmetry: tuple[str, ...], tmp_path: Path
) -> None:
    part = Search(compile_kernel(Instance(SMALL + "TwoPhase", {"Manager": size})), symmetry=symmetry)
    part.run()
    save(part, tmp_path / "search.npz")
    with pytest.raises(SavedSearchError, match="another protocol or instance"):
        load(tmp_path / "search.npz", compile_kernel(Instance(SMALL + "TwoPhase", {"Manager": 6})))


def test_the_user_can_stop(monkeypatch: pytest.MonkeyPatch) -> None:
    running = Search(compile_kernel(Instance(SMALL + "TwoPhase", {"Manager": 6})))
    chunk = running._round

    def pressed() -> str:
        signal.raise_signal(signal.SIGINT)
        return chunk()

    monkeypatch.setattr(running, "_round", pressed)
    result = running.run()
    assert result.stopped == "stopped by the user"
    assert running.totals.next_row == 1  # the chunk was finished, so that nothing is counted twice


def test_progress_is_shown_at_the_end() -> None:
    shown: list[tuple[int, int]] = []

    def watch(*, distinct: int, frontier: int, depth: int, rate: float, trend: float) -> None:
        shown.append((distinct, frontier))

    search(compile_kernel(Instance(SMALL + "Lock", {"Process": 2})), watch=watch)
    assert shown[-1] == (12, 0)


def test_a_kernel_is_compiled_well_once_it_was_used_much_and_answers_the_same(monkeypatch, tmp_path):
    instance = Instance(SMALL + "TwoPhase", {"Manager": 5})
    quick = compile_kernel(instance, folder=tmp_path)
    before = search(quick)
    assert len(quick._libraries) == 1
    monkeypatch.setattr(kernels, "QUICK_ROWS", 100)
    other = compile_kernel(instance, folder=tmp_path)
    after = search(other, workers=2)
    assert [library.warm for library in other._libraries] == [True, False]
    assert (before.distinct, before.depth) == (after.distinct, after.depth)
    assert before.totals.generated.tolist() == after.totals.generated.tolist()
    assert before.states.tolist() == after.states.tolist()


def test_a_guard_may_look_beyond_the_bounds() -> None:
    """What is there has its initial value; only a write leaves the bounds."""
    instance = Instance("tests.protocols.mazes:Lights", {"Place": 2})
    plain, fast = PlainSearch(Interpreter(instance)).run(), search(compile_kernel(instance))
    for found in (plain, fast):
        assert found.out_of_bounds == 0
        assert (found.generated, found.depth) == (9, 4)
    assert len(plain.parents) == fast.distinct == 8
