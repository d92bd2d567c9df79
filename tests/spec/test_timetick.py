"""Scripted runs of the time tick, step by step in the plain interpreter."""

from __future__ import annotations

from typing import Any

import pytest

from tidemark.models.instance import Instance
from tidemark.models.interpreted.interpreter import Interpreter, Step

JOIN = ["restart", "register(1)", "learn(1)", "others_allocate(1)", "report(1, 1)", "accept(1)"]
"""A coordinator, a proxy that it knows, and an accepted report: the proxy may serve."""


def _step(text: str) -> Step:
    name, _, rest = text.partition("(")
    values = [part.strip() for part in rest.rstrip(")").split(",") if part.strip()]
    return Step(
        name, tuple(value == "true" if value in ("true", "false") else int(value) for value in values)
    )


class Run:
    """A run of one proxy (1) and the DDL source (0); message 0 is the proxy's on channel 0."""

    def __init__(
        self, protocol: str = "tidemark.spec.timetick:TimeTick", *, channels: int = 1, **options: Any
    ) -> None:
        self.judge = Interpreter(
            Instance(
                protocol,
                {"Source": 2, "Channel": channels, "Message": 1, "Ts": 5, "Faults": 3},
                {"ddl": 0, "sender": [1], "channel_of": [0]} | options,
            )
        )
        (self.state,) = self.judge.initial()

    def go(self, *steps: str) -> Run:
        """Take the steps, each of which must be possible."""
        for text in steps:
            refused = self.judge.failing_guard(self.state, _step(text))
            assert refused is None, f"{text}: {refused}"
            found = self.judge.apply(self.state, _step(text))
            assert found is not None
            assert found.in_bounds
            self.state = found.state
        return self

    def refuses(self, text: str) -> bool:
        """The step is not possible here."""
        return self.judge.failing_guard(self.state, _step(text)) is not None

    def __getitem__(self, name: str) -> Any:
        value = self.judge.decode(self.state)[name]
        return list(value.values()) if isinstance(value, dict) else value


def _round(value: int) -> list[str]:
    """Both sources report what they may up to the value, and the tick of channel 0 is sent."""
    return [
        *(f"report({p}, {value})" for p in (0, 1)),
        *(f"accept({p})" for p in (0, 1)),
        *("close_round", "take_round", "send_tick(0)", "end_round"),
    ]


def test_a_tick_stays_below_a_message_that_is_open_and_passes_it_afterwards():
    run = Run().go(*JOIN, "ask(0)", "stamp(0, 3)", *_round(3))
    assert run["tick"] == [2]
    run.go("append(0)", *_round(3))
    assert run["tick"] == [3]


def test_a_message_whose_timestamp_is_asked_for_holds_the_tick_at_its_floor():
    run = Run().go(*JOIN, "ask(0)", "others_allocate(4)", *_round(4))
    assert run["tick"] == [1]
    assert run.refuses("stamp(0, 1)")
    run.go("stamp(0, 2)")


def test_a_proxy_takes_no_writes_before_a_report_of_it_was_accepted():
    run = Run().go(*JOIN[:-1])
    assert run.refuses("ask(0)")
    run.go("accept(1)", "ask(0)")


def test_a_report_of_a_session_that_nobody_knows_is_refused():
    run = Run().go("restart", "register(1)", "others_allocate(1)", "report(1, 1)")
    assert run.refuses("accept(1)")


def test_no_round_is_closed_before_every_known_session_has_reported():
    run = Run().go(*JOIN)
    assert run.refuses("close_round")
    run.go("report(0, 1)", "accept(0)", "close_round")
    assert not any(run["entry"])


def test_a_removed_source_is_waited_for_no_more_and_is_refused_by_the_log():
    run = Run().go(*JOIN, "ask(0)", "stamp(0, 2)", "expire(1)", "forget(1)")
    assert run.refuses("append(0)")
    run.go("report(0, 2)", "accept(0)", "close_round", "take_round", "send_tick(0)")
    assert run["tick"] == [2]


def test_without_the_fence_the_message_lands_below_the_tick():
    steps = ["ask(0)", "stamp(0, 2)", "expire(1)", "forget(1)", "report(0, 2)", "accept(0)"]
    run = Run(FENCED=False).go(*JOIN, *steps, "close_round", "take_round", "send_tick(0)", "append(0)")
    assert (run["tick"], run["ts"]) == ([2], [2])


def test_a_coordinator_that_starts_fences_whose_lease_ended_meanwhile():
    run = Run().go(*JOIN, "ask(0)", "stamp(0, 2)", "crash_coordinator", "expire(1)", "restart")
    assert run.refuses("append(0)")
    assert run["known"] == [True, False]


def test_a_coordinator_that_starts_knows_live_sessions_and_the_last_ticks():
    run = Run().go(*JOIN, *_round(1), "crash_coordinator")
    assert run["last"] == [0]
    run.go("restart")
    assert (run["known"], run["last"], run["synced"]) == ([True, True], [1], [1])


def test_a_tick_that_would_go_back_is_skipped():
    run = Run().go(*JOIN, "others_allocate(4)", *_round(4), "overtake(1, 0, 2)", "accept(1)", "accept(0)")
    run.go("close_round", "take_round", "send_tick(0)")
    assert run["tick"] == [4]


@pytest.mark.parametrize(("applied", "tick"), [("true", [1]), ("false", [0])])
def test_a_send_that_fails_is_remembered_as_tried_and_tried_again(applied: str, tick: list[int]):
    run = Run().go(
        *JOIN, "report(0, 1)", "accept(0)", "close_round", "take_round", f"fail_send(0, {applied})"
    )
    assert (run["tick"], run["last"], run["synced"]) == (tick, [1], [0])
    run.go("end_round", "accept(0)", "accept(1)", "close_round", "take_round", "send_tick(0)")
    assert (run["tick"], run["synced"]) == ([1], [1])


def test_a_full_queue_drops_the_newer_round():
    run = Run().go(*JOIN, "report(0, 1)", "accept(0)", "close_round", "others_allocate(4)")
    run.go("report(0, 4)", "report(1, 4)", "accept(0)", "accept(1)")
    assert run.refuses("close_round")
    run.go("drop_round", "take_round", "send_tick(0)")
    assert run["tick"] == [1]


def test_each_channel_has_the_minimum_of_its_own_and_the_seed_words_say_otherwise():
    steps = [
        *JOIN,
        "ask(0)",
        "stamp(0, 3)",
        "report(0, 3)",
        "report(1, 3)",
        "accept(0)",
        "accept(1)",
        "close_round",
    ]
    assert Run(channels=2).go(*steps)["queued_ts"] == [2, 3]
    assert Run("tidemark.spec.timetick.variants.other_rules:OneMinimum", channels=2).go(*steps)[
        "queued_ts"
    ] == [2, 2]


def test_the_ddl_messages_of_a_dead_coordinator_are_given_up():
    run = Run(sender=[0]).go("restart", "ask(0)", "stamp(0, 2)", "crash_coordinator")
    assert run["message"] == ["dropped"]
    assert Run(sender=[0], FENCED=False).go("restart", "ask(0)", "stamp(0, 2)", "crash_coordinator")[
        "message"
    ] == ["lost"]


def test_a_consumer_that_seeks_skips_what_comes_late():
    run = Run("tidemark.spec.timetick.variants.tick_consumer:Consumer", BARRIER=False)
    run.go(
        "restart", "register(1)", "ask(0)", "stamp(0, 1)", "others_allocate(2)", "report(0, 2)", "accept(0)"
    )
    run.go(
        "close_round",
        "take_round",
        "send_tick(0)",
        "consume(0)",
        "store(0)",
        "crash_consumer(0)",
        "append(0)",
    )
    run.go(
        "end_round",
        "others_allocate(4)",
        "report(0, 4)",
        "accept(0)",
        "close_round",
        "take_round",
        "send_tick(0)",
    )
    run.go("consume(0)")
    assert (run["position"], run["row"]) == ([4], ["absent"])


def test_a_stream_hands_a_pack_over_only_where_its_channels_have_the_same_tick():
    run = Run("tidemark.spec.timetick.variants.several_channels:Stream", channels=2).go(
        *JOIN, "ask(0)", "stamp(0, 3)"
    )
    run.go("report(0, 3)", "report(1, 3)", "accept(0)", "accept(1)", "close_round", "take_round")
    run.go("send_tick(0)", "send_tick(1)", "read_on(0)", "read_on(1)")
    assert run["at"] == [2, 3]
    assert run.refuses("hand_over")
