"""Spin's answers about our exports are ours; and an answer that is not complete is never taken for one."""

import shutil

import pytest

from tests.manifests import entry_of, manifests
from tests.models.exports.instances import EVERY, GALLERY
from tidemark.checks.cli.cross_check import chosen, conclude
from tidemark.checks.crosscheck.outcome import CheckerAnswer, Comparison, native, plain
from tidemark.checks.crosscheck.spin import SpinError, read_output, require_spin, run_spin
from tidemark.checks.verdicts.errors import BadInputError, MissingToolError
from tidemark.checks.verdicts.exit_codes import ExitCode
from tidemark.models.instance import Instance
from tidemark.models.manifest import Tier, instance_of

needs_spin = pytest.mark.skipif(
    shutil.which("spin") is None or shutil.which("gcc") is None,
    reason="Spin and gcc are Debian packages, not Python packages",
)
PAN = """\
pan:1: assertion violated never_both_holds (at depth 3)
pan:2: assertion violated second_turn_unseen (at depth 5)
       16 states, stored
       18 states, matched
       34 transitions (= stored+matched)
"""


@needs_spin
@pytest.mark.parametrize("name", sorted(GALLERY))
def test_spin_and_the_interpreter_agree(name, tmp_path):
    instance = GALLERY[name]
    ours = plain(instance)
    theirs = run_spin(instance, folder=tmp_path, states=ours.distinct, timeout_s=60)
    assert not Comparison(name, "Spin", ours, theirs).differences()


@needs_spin
@pytest.mark.parametrize("name", ["tso-s", "spanningtree", "innerfifo"])
def test_spin_and_the_compiled_kernel_agree(name, tmp_path):
    instance = EVERY[name]
    ours = native(instance)
    theirs = run_spin(instance, folder=tmp_path, states=ours.distinct, timeout_s=60)
    assert not Comparison(name, "Spin", ours, theirs).differences()


@needs_spin
def test_spin_has_the_pinned_counts_of_the_flush_protocol(tmp_path):
    entry = entry_of("tiny")
    theirs = run_spin(instance_of(entry), folder=tmp_path, states=entry.counts["distinct"], timeout_s=60)
    assert (theirs.distinct, theirs.generated) == (entry.counts["distinct"], entry.counts["generated"])
    assert "flush.a_flush_completes" in theirs.decided
    assert not any("stored" in claim for claim in theirs.decided)


@needs_spin
def test_a_search_that_spin_cuts_off_is_not_the_same(tmp_path):
    instance = Instance("tests.protocols.small:HourClock", {"Hour": 12}, name="clock")
    ours = plain(instance)
    theirs = run_spin(instance, folder=tmp_path, states=12, timeout_s=0.0)
    assert theirs.stopped
    assert not Comparison("clock", "Spin", ours, theirs).agrees


def lights() -> Instance:
    return GALLERY["careless-lights"]


def test_counts_are_read_in_our_convention():
    """One transition of Spin's looked at the invariant that broke."""
    found = read_output(PAN, lights(), seconds=1.0)
    assert found == CheckerAnswer(16, 33, frozenset(("lights.never_both", "lights.second_turn")), 1.0)


def test_the_state_before_several_initial_ones_is_not_counted():
    instance = Instance("tests.protocols.small:HourClock", {"Hour": 12}, name="clock")
    text = "13 states, stored\n12 states, matched\n25 transitions (= stored+matched)\n"
    found = read_output(text, instance, seconds=0.0)
    assert (found.distinct, found.generated) == (12, 24)


@pytest.mark.parametrize(
    ("more", "reason"),
    [
        ("error: max search depth too small\n", "depth"),
        ("pan: out of memory\n", "memory"),
        ("Warning: Search not completed\n", "completed"),
    ],
)
def test_a_cut_search_says_so(more, reason):
    assert reason in read_output(more + PAN, lights(), seconds=0.0).stopped


def test_rounded_counts_are_not_compared():
    text = "1.2345679e+08 states, stored\n2.2345679e+08 transitions (= stored+matched)\n"
    assert "rounds" in read_output(text, lights(), seconds=0.0).stopped


def test_a_flag_that_is_not_in_the_model_or_no_counts_is_an_error():
    with pytest.raises(SpinError, match="no counts"):
        read_output("pan: something else\n", lights(), seconds=0.0)


def test_an_array_index_out_of_range_is_an_error_of_the_export():
    text = PAN + "pan:3: assertion violated - invalid array index (at depth 18)\n"
    with pytest.raises(SpinError, match="array"):
        read_output(text, lights(), seconds=0.0)


def test_without_spin_the_message_says_how_to_get_it(monkeypatch):
    monkeypatch.setattr(shutil, "which", lambda name: None)
    with pytest.raises(MissingToolError, match="spin and gcc cannot be found") as caught:
        require_spin()
    assert "apt-get install spin gcc" in caught.value.remedy
    assert caught.value.exit_code is ExitCode.MISSING_TOOL


OURS = CheckerAnswer(10, 20, frozenset(("p.a",)), 1.0)


@pytest.mark.parametrize(
    ("theirs", "word"),
    [
        (CheckerAnswer(11, 20, frozenset(("p.a",)), 1.0), "distinct: ours 10, Spin 11"),
        (CheckerAnswer(10, 21, frozenset(("p.a",)), 1.0), "generated: ours 20, Spin 21"),
        (CheckerAnswer(10, 20, frozenset(), 1.0), "p.a: decided by us only"),
        (CheckerAnswer(10, 20, frozenset(("p.a", "p.b")), 1.0), "p.b: decided by Spin only"),
        (CheckerAnswer(10, 20, frozenset(("p.a",)), 1.0, stopped="no end"), "no end"),
    ],
)
def test_every_difference_is_named(theirs, word):
    found = Comparison("x", "Spin", OURS, theirs)
    assert any(word in text for text in found.differences())
    assert not found.agrees


def test_the_exit_status_tells_what_was_compared(capsys):
    same = Comparison("same", "Spin", OURS, OURS)
    other = Comparison("other", "Spin", OURS, CheckerAnswer(11, 20, frozenset(("p.a",)), 1.0))
    cut = Comparison("cut", "Spin", OURS, CheckerAnswer(0, 0, frozenset(), 1.0, stopped="no end"))
    failed = Comparison("failed", "Spin", OURS, failed="rejected")
    left = Comparison("left", "Spin", skipped="too large")
    assert conclude([same, left]) == ExitCode.AS_EXPECTED
    assert conclude([same, other]) == ExitCode.UNEXPECTED_REFUTATION
    assert conclude([same, failed]) == ExitCode.UNEXPECTED_REFUTATION
    assert conclude([same, cut]) == ExitCode.INCONCLUSIVE
    assert conclude([left]) == ExitCode.INCONCLUSIVE
    assert "1 the same, 1 different" in capsys.readouterr().out


def test_instances_are_chosen_by_tier_or_by_name():
    flush = [manifests()["flush"]]
    fast = [entry.name for entry in chosen(flush, only="", tier=Tier.FAST)]
    assert "tiny" in fast
    assert "ten-million" not in fast
    assert [entry.name for entry in chosen(flush, only="ten-million", tier=Tier.FAST)] == ["ten-million"]
    with pytest.raises(BadInputError, match="no instance matches 'tinyy'"):
        chosen(flush, only="tinyy", tier=Tier.FAST)
