"""What is pinned: every part that a meaning depends on, nothing else, and the same in every process."""

import inspect
import json
import os
import sys

import pytest

from tests.processes import finished
from tests.protocols import ship
from tidemark.models.pins.compare import Change, Difference, differences
from tidemark.models.pins.items import Said, said_by
from tidemark.models.pins.tree import digest_of, plain_tree
from tidemark.spec.language.layout import WIDTH, layout
from tidemark.spec.language.protocol import resolve
from tidemark.spec.language.render import render

REFERENCE = f"{ship.__name__}:"
BASE = REFERENCE + "Base"
SAME = "OtherWords"
SEVERAL = {"OtherParameter": ["action put", "ship.a_full_place"], "MoreState": ["state", "action shut"]}
"""Variants that change more than one part."""
OTHERS = [
    name
    for name, one in inspect.getmembers(ship, inspect.isclass)
    if one.__module__ == ship.__name__ and name not in ("Base", SAME)
]


@pytest.mark.parametrize("name", OTHERS)
def test_every_part_counts(name: str) -> None:
    found = _compared(said_by(BASE), said_by(REFERENCE + name))
    changed = [one.id for one in found]
    assert changed == SEVERAL[name] if name in SEVERAL else len(changed) == 1
    assert all(one.change in (Change.CHANGED, Change.SURPLUS) for one in found)
    assert all(one.old != one.new for one in found), "the words do not show what has changed"


def test_words_and_places_do_not_count() -> None:
    assert len(OTHERS) > 20
    assert said_by(BASE) == said_by(REFERENCE + SAME)


@pytest.mark.parametrize("name", [*OTHERS, SAME])
def test_a_variant_is_pinned_by_what_differs(name: str) -> None:
    variant = REFERENCE + name
    said = said_by(BASE, [variant])[variant]
    others = [REFERENCE + other for other in [*OTHERS, SAME] if other != name]
    assert said.pin.digest not in {one.pin.digest for one in said_by(BASE, others).values()}
    changed = [one.id for one in _compared(said_by(BASE), said_by(variant)) if one.id != "state"]
    assert all(part in said.text for part in changed)
    assert ("says the same as its base" in said.text) is (name == SAME)


def _compared(old: dict[str, Said], new: dict[str, Said]) -> list[Difference]:
    texts = {name: one.text for name, one in old.items()}
    return differences({name: one.pin for name, one in old.items()}, new, texts=texts)


def test_the_same_in_every_process() -> None:
    variant = REFERENCE + OTHERS[0]
    program = (
        "import json; from tidemark.models.pins.items import said_by; "
        f"found = said_by({BASE!r}, [{variant!r}]); "
        "print(json.dumps([one.pin.model_dump() for one in found.values()]))"
    )
    here = [one.pin.model_dump(mode="json") for one in said_by(BASE, [variant]).values()]
    for seed in ("0", "1"):
        run = finished([sys.executable, "-c", program], env=os.environ | {"PYTHONHASHSEED": seed})
        assert json.loads(run.stdout) == here


def test_a_digest_is_of_plain_text() -> None:
    """What is hashed names no Python class: it is the same under every version of Python."""
    claim = ship.Base.trace().property("nothing_falls").expr
    load = ["select", "Amount", [], [], [["read", "Map[Place, Amount]", ["load", False, False], [], []]]]
    place = ["local", "Place", ["p_0"], [], []]
    before = [*load[:4], [*load[4], place]]
    after = [*load[:4], [["read", "Map[Place, Amount]", ["load", False, True], [], []], place]]
    body = ["le", "Bool", [], [], [before, after]]
    assert plain_tree(claim) == ["forall", "Bool", [], [["p_0", "Place"]], [body]]
    assert digest_of(plain_tree(claim)) == "0beb823d91f9e8a7"


def test_long_lines_are_broken_and_say_the_same() -> None:
    spec = resolve("tidemark.spec.tso:Tso").trace()
    exprs = [prop.expr for prop in spec.properties]
    exprs += [update for action in spec.actions for _, update in action.updates]
    broken = [(expr, lines) for expr in exprs if len(lines := layout(expr)) > 1]
    assert len(broken) > 20
    for expr, lines in broken:
        # Only white space and parentheses differ.
        assert _letters("".join(lines)) == _letters(render(expr))
    assert max(len(line) for _, lines in broken for line in lines) < WIDTH + 20


def _letters(text: str) -> str:
    return "".join(letter for letter in text if letter not in " ()")
