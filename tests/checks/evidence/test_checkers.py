"""Histories of Jepsen, Elle, Knossos and Porcupine, judged as histories of our own clients."""

import json
import random
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from tidemark.checks.evidence.judge import judge_evidence
from tidemark.checks.evidence.monitors.base import Answer
from tidemark.checks.evidence.table.files import Source, find
from tidemark.checks.evidence.table.plain import gather

Event = tuple[int, str, str, Any]
"""Process, ``invoke`` or what came of the call, operation, value."""


def edn(value: Any) -> str:
    if isinstance(value, dict):
        inner = ", ".join(f":{name} {edn(one)}" for name, one in value.items())
        return f"{{{inner}}}"
    if isinstance(value, list):
        return f"[{' '.join(map(edn, value))}]"
    return "nil" if value is None else value if str(value).startswith((":", "#")) else json.dumps(value)


def maps(events: Sequence[Event], mark: str = ":") -> list[dict[str, Any]]:
    return [
        {
            "index": n,
            "time": 10 * n,
            "type": f"{mark}{kind}",
            "process": who,
            "f": f"{mark}{f}",
            "value": value,
        }
        for n, (who, kind, f, value) in enumerate(events)
    ]


def porcupine(events: Sequence[Event]) -> str:
    made, begun = [], dict[int, Any]()
    for n, (who, kind, f, value) in enumerate(events):
        if kind == "invoke":
            begun[who] = {
                "ClientId": who,
                "Input": {"Op": f, "Value": value},
                "Call": n,
                "Return": -1,
                "Output": None,
            }
            made.append(begun[who])
        elif kind == "ok":
            begun[who] |= {"Return": n, "Output": {"Value": value}}
    return json.dumps(made)


FORMS: dict[str, Callable[[Sequence[Event]], str]] = {
    "EDN, one a line": lambda events: "\n".join(map(edn, maps(events))),
    "EDN, newest first": lambda events: "\n".join(map(edn, maps(events)[::-1])),
    "EDN, a list with tags": lambda events: (
        f"({' '.join('#jepsen.history.Op' + edn(one) for one in maps(events))}\n)"
    ),
    "JSON, one a line": lambda events: "\n".join(json.dumps(one) for one in maps(events, "")),
    "JSON, a list": lambda events: json.dumps(maps(events, ""), indent=1),
    "text": lambda events: "\n".join(
        f"INFO  jepsen.util - {who}\t:{kind}\t:{f}\t{edn(value)}" for who, kind, f, value in events
    ),
    "Porcupine": porcupine,
}


def done(who: int, f: str, value: Any, outcome: str = "ok") -> list[Event]:
    return [(who, "invoke", f, None if f in ("read", "get") else value), (who, outcome, f, value)]


def judged(path: Path, text: str) -> tuple[dict[str, Answer], list[Source]]:
    path.write_text(f"{text}\n", encoding="utf-8")
    sources = find([path], unpacked=path.parent / "unpacked")
    found = judge_evidence(gather(sources))
    return {one.property_id: one for one in found.answers if one.property_id.startswith("history.")}, sources


def verdict(path: Path, text: str) -> str:
    answers, _ = judged(path, text)
    if any(one.broken for one in answers.values()):
        return "refuted"
    return "inconclusive" if not answers or any(one.unsure for one in answers.values()) else "holds"


ONE, TWO = done(0, "write", 1), done(0, "write", 2)
OPEN = done(0, "write", 2, "info")
HISTORIES = {
    "sound": ("holds", [*ONE, *done(1, "read", 1), *TWO, *done(1, "read", 2)]),
    "stale": ("refuted", [*ONE, *TWO, *done(1, "read", 1)]),
    "lost": ("refuted", [*ONE, *done(1, "read", None)]),
    "never written": ("refuted", [*ONE, *done(1, "read", 7)]),
    "open, seen": ("holds", [*ONE, *OPEN, *done(1, "read", 1), *done(1, "read", 2)]),
    "open, not seen": ("holds", [*ONE, *OPEN, *done(1, "read", 1)]),
    "open, both lost": ("refuted", [*ONE, *OPEN, *done(1, "read", None)]),
    "open, seen and gone": ("refuted", [*ONE, *OPEN, *done(1, "read", 2), *done(1, "read", 1)]),
    "a value at the beginning": ("holds", [*done(1, "read", 5), *ONE, *done(1, "read", 1)]),
    "and later again": ("refuted", [*done(1, "read", 5), *ONE, *done(1, "read", 5)]),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", HISTORIES)
def test_every_form_of_a_register_has_the_right_verdict(tmp_path: Path, form: str, name: str) -> None:
    expected, events = HISTORIES[name]
    assert verdict(tmp_path / "h", FORMS[form](events)) == expected


def pairs(key: int, events: Sequence[Event]) -> list[Event]:
    return [(who, kind, f, [key, value]) for who, kind, f, value in events]


ADDED = [*done(0, "add", 1), *done(1, "add", 2)]
TEXTS = [*done(0, "put", "a0"), *done(1, "append", "b0")]
OTHERS = {
    "a write that failed is read": ("refuted", [*ONE, *done(0, "write", 2, "fail"), *done(1, "read", 2)]),
    "a set": ("holds", [*ADDED, *done(2, "read", [2, 1])]),
    "a set without a row": ("refuted", [*ADDED, *done(2, "read", [1])]),
    "a list with a row twice": ("refuted", [*ADDED, *done(2, "read", [1, 2, 1])]),
    "a counter": ("inconclusive", [*ADDED, *done(2, "read", 3)]),
    "texts": ("holds", [*TEXTS, *done(2, "get", "a0b0")]),
    "texts, one lost": ("refuted", [*TEXTS, *done(2, "get", "a0")]),
    "texts, all lost": ("refuted", [*TEXTS, *done(2, "get", "")]),
    "texts that can be cut in two ways": (
        "inconclusive", [*done(0, "append", "1"), *done(0, "append", "11"), *done(2, "get", "111")]
    ),
    "keys": ("holds", [*pairs(1, ONE), *pairs(2, TWO), *pairs(1, done(1, "read", 1))]),
    "keys, one stale": ("refuted", [*pairs(1, ONE), *pairs(1, TWO), *pairs(1, done(1, "read", 1))]),
    "a comparison": ("inconclusive", [*ONE, *done(0, "cas", [1, 2]), *done(1, "read", 2)]),
    "a comparison that failed": ("holds", [*ONE, *done(0, "cas", [3, 2], "fail"), *done(1, "read", 1)]),
    "stale before a comparison": ("refuted", [*ONE, *TWO, *done(1, "read", 1), *done(0, "cas", [2, 1])]),
    "parts that only read": (
        "refuted", [*done(0, "txn", [[":append", 7, 1]]), *done(1, "txn", [[":r", 7, []], [":r", 8, []]])]
    ),
    "parts that read and write": (
        "inconclusive",
        [*done(0, "txn", [[":append", 7, 1], [":r", 8, []]]), *done(1, "txn", [[":r", 7, [1]]])],
    ),
    "a queue": ("inconclusive", [*done(0, "enqueue", 1), *done(1, "dequeue", 1)]),
    "an answer without a call": ("inconclusive", [*ONE[1:], *done(1, "read", 1)]),
}  # fmt: skip


@pytest.mark.parametrize("form", ["EDN, one a line", "JSON, a list"])
@pytest.mark.parametrize("name", OTHERS)
def test_what_has_a_counterpart_is_judged_and_the_rest_is_named(tmp_path: Path, form: str, name: str) -> None:
    expected, events = OTHERS[name]
    assert verdict(tmp_path / "h", FORMS[form](events)) == expected


def test_what_is_missing_or_cut_is_not_judged(tmp_path: Path) -> None:
    whole = [edn(one) for one in maps([*ONE, *TWO, *done(1, "read", 2)])]
    for text in ("\n".join(whole[2:]), "\n".join(whole[:2] + whole[3:]), "\n".join(whole)[:-9]):
        answers, (found,) = judged(tmp_path / "h", text)
        assert not answers
        assert found.problem.startswith("a history for Jepsen")


def test_two_histories_in_a_folder_are_two(tmp_path: Path) -> None:
    """Both have a process 0 and a register."""
    for name, value in (("a", 1), ("b", 2)):
        text = FORMS["text"]([*done(0, "write", value), *done(1, "read", value)])
        (tmp_path / name).write_text(text, encoding="utf-8")
    found = judge_evidence(gather(find([tmp_path], unpacked=tmp_path / ".unpacked")))
    assert {one.property_id: one.events for one in found.answers if one.events} == dict.fromkeys(
        ("history.kept", "history.strong", "history.written"), 2
    )


def simulated(rng: random.Random) -> list[Event]:
    """Calls of a register that take effect between their begin and their end; some have no answer."""
    register, who = None, list(range(4))
    running, events = dict[int, list[Any]](), list[Event]()
    for _ in range(24):
        place = rng.randrange(4)
        me = who[place]
        if me not in running:
            f = rng.choice(("read", "write"))
            running[me] = [f, rng.randrange(5) if f == "write" else None, False]
            events.append((me, "invoke", *running[me][:2]))
        elif not running[me][2]:
            running[me][2] = True
            if running[me][0] == "write":
                register = running[me][1]
            running[me][1] = register
        if me in running and rng.random() < 0.4:
            f, value, over = running.pop(me)
            who[place] += 0 if over else 4
            events.append((me, "ok" if over else "info", f, value))
    return events


def test_runs_of_a_register_are_never_refuted(tmp_path: Path) -> None:
    rng = random.Random(7)
    found = [verdict(tmp_path / "h", FORMS["text"](simulated(rng))) for _ in range(60)]
    assert set(found) <= {"holds", "inconclusive"}
    assert found.count("holds") > 45
