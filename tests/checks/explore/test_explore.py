"""The judge ``explore``: limits, stop and resume, workers; random walks decide little."""

import signal
from pathlib import Path

import pytest

from tidemark.checks.cli.app import run
from tidemark.checks.crosscheck.peers import COUNTEREXAMPLES, PEERS
from tidemark.checks.explore.judge import explore, search
from tidemark.checks.explore.simulate import simulate
from tidemark.checks.verdicts.errors import StoppedError
from tidemark.checks.verdicts.exit_codes import ExitCode
from tidemark.checks.verdicts.verdict import Outcome, Verdict
from tidemark.models.instance import Instance
from tidemark.models.native.search.breadth_first import Search, SearchLimits
from tidemark.models.native.simulate import Budget

TWO_PHASE = Instance("tests.protocols.small:TwoPhase", {"Manager": 6}, name="two-phase")


def told(verdicts: list[Verdict]) -> list[tuple[str, Outcome, dict[str, int], str, tuple[str, ...]]]:
    return [(v.subject.property_id, v.outcome, v.counts, v.reason, v.notes) for v in verdicts]


def test_the_number_of_workers_changes_no_verdict() -> None:
    instance = PEERS["flush-cp-s"].instance
    one, three = (told(explore(instance, workers=workers)) for workers in (1, 3))
    assert one == three
    assert one[0][2]["distinct"] == PEERS["flush-cp-s"].distinct


def test_a_memory_bound_ends_inconclusive_and_says_what_was_covered() -> None:
    found = explore(TWO_PHASE, limits=SearchLimits(memory=1_500_000))
    decided = [v for v in found if v.outcome is not Outcome.INCONCLUSIVE]
    assert all("reached" in v.notes[0] for v in decided)  # a witness that was reached stays reached
    open_ = [v for v in found if v.outcome is Outcome.INCONCLUSIVE]
    assert open_
    for verdict in open_:
        assert "memory" in verdict.reason
        assert "covered so far: " in verdict.reason
        assert 0 < verdict.counts["distinct"] < 50_816


def test_what_it_will_take_is_said_before_the_start() -> None:
    notes: list[tuple[int, str]] = []

    def progress(done: int, *, total: int | None = None, unit: str = "", note: str = "") -> None:
        notes.append((done, note))

    search(TWO_PHASE, progress=progress, limits=SearchLimits(memory=100_000_000))
    assert notes[0][0] == 0
    assert notes[0][1].startswith("1 word a state; room for ")
    assert "0.1 GB" in notes[0][1]
    assert notes[-1][0] == 50_816
    assert "levels x" in notes[-1][1]


def test_a_stopped_search_goes_on_where_it_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    saved = tmp_path / "search.npz"
    whole = search(TWO_PHASE)
    round_ = Search._round

    def pressed(self: Search) -> str:
        if self.visited.count > 10_000:
            signal.raise_signal(signal.SIGINT)
        return round_(self)

    with monkeypatch.context() as patched:
        patched.setattr(Search, "_round", pressed)
        with pytest.raises(StoppedError, match="stopped after") as caught:
            search(TWO_PHASE, saved=saved, workers=2)
    assert caught.value.saved == saved
    assert saved.exists()
    again = search(TWO_PHASE, saved=saved, workers=1)
    assert (again.distinct, again.generated, again.depth) == (whole.distinct, whole.generated, whole.depth)
    assert again.totals.seconds > 0
    assert not saved.exists()


def test_the_command_takes_workers_and_memory(tmp_path: Path) -> None:
    build = str(tmp_path)
    given = ["explore", "tiny", "--workers", "2", "--memory", "0.5", "--build", build]
    assert run(given) == ExitCode.AS_EXPECTED
    assert run(["explore", "tiny", "--workers", "0", "--build", build]) == ExitCode.BAD_INPUT


ALIKE = """
name = "lock"
protocol = "tests.protocols.small:Lock"

[properties]
invariant = ["lock.exclusion"]
leads_to = ["lock.served", "lock.asked"]

[instance.alike]
protocol = "tests.protocols.small:Lock"
engines = ["ENGINE"]
bounds = { Process = 4 }
symmetry = ["Process"]
claims = ["lock.exclusion"]
expect = { every = "holds" }
counts = { distinct = 13, generated = 41, depth = 7, unreduced = 80 }
"""


def test_an_entry_with_symmetry_pins_both_counts(tmp_path: Path) -> None:
    file = tmp_path / "lock.toml"
    arguments = ["explore", "--manifest", str(file), "--build", str(tmp_path)]
    file.write_text(ALIKE.replace("ENGINE", "explore"))
    assert search(Instance("tests.protocols.small:Lock", {"Process": 4})).distinct == 80
    assert run(arguments) == ExitCode.AS_EXPECTED
    file.write_text(ALIKE.replace("ENGINE", "explore").replace("80", "81"))
    assert run(arguments) == ExitCode.VACUOUS_OR_UNPINNED
    file.write_text(ALIKE.replace("ENGINE", "interpreted"))
    assert run(["interpreted", *arguments[1:]]) == ExitCode.BAD_INPUT


SMALL = "tests.protocols.small:"


def test_invariants_that_hold_are_inconclusive() -> None:
    _, found = simulate(PEERS["tso-s"].instance, budget=Budget(visits=20_000))
    for verdict in found:
        witness = verdict.subject.aspect.value == "vacuity"
        assert verdict.outcome in (
            (Outcome.HOLDS, Outcome.INCONCLUSIVE) if witness else (Outcome.INCONCLUSIVE,)
        )
        if verdict.outcome is Outcome.INCONCLUSIVE:
            assert verdict.reason.startswith("sampled:")


@pytest.mark.parametrize("protocol", sorted(COUNTEREXAMPLES)[:3])
def test_a_refutation_has_a_counterexample_that_is_not_called_shortest(protocol: str) -> None:
    size, _ = COUNTEREXAMPLES[protocol]
    _, found = simulate(Instance(protocol, **size), budget=Budget(visits=300_000), seed=1)
    refutations = [verdict for verdict in found if verdict.outcome is Outcome.REFUTED]
    assert refutations
    for verdict in refutations:
        assert verdict.counterexample is not None
        assert "shorter" in verdict.notes[0]


def test_liveness_is_never_decided() -> None:
    _, found = simulate(Instance(SMALL + "Peterson", {"Process": 1}), budget=Budget(visits=5_000))
    live = [verdict for verdict in found if "liveness" in verdict.reason]
    assert live
    assert all(verdict.outcome is Outcome.INCONCLUSIVE for verdict in live)


def test_the_command_is_never_green(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["simulate", "tiny", "--visits", "20000"]) == ExitCode.INCONCLUSIVE
    shown = capsys.readouterr().out
    assert "walks" in shown
    assert "taken" in shown
    assert run(["simulate", "no-such-instance"]) == ExitCode.BAD_INPUT
