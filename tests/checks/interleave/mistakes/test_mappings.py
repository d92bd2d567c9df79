"""A mistake in a mapping or a program names its line; what an implementation breaks is a refutation."""

import itertools
import os
from pathlib import Path

import pytest

from tidemark.checks.cli import app as cli
from tidemark.checks.verdicts.exit_codes import ExitCode

NAMES = itertools.count()

TEXT = '''\
from tidemark.models.instance import Instance
from tidemark.models.refinement.program import Abstraction, RefiningProgram
from tidemark.spec.language import *


class Shelf(Protocol):
    """Boxes come into a shelf of places."""

    Row = Sort()
    Place = Nat()
    Count = Nat()
    full: Map[Row, Place, Bool] = False
    boxes: Count = 0

    @action
    def put(s, row: Row, place: Place):
        """A box comes to a place."""
        s.full[row, place] = True
        s.boxes = s.boxes + 1

    @invariant(source="a test")
    def counted(s):
        """A full place has a box."""
        return forall(s.Row, s.Place, lambda r, p: implies(s.full[r, p], s.boxes > 0))


EVERY = [(row, place) for row in range(2) for place in range(3)]


def values(seen):
    boxes = seen["shelf"]
    full = {key: False for key in [full for full in EVERY]}
    full[(0, 0)] = boxes > 0
    return {"full": full, "boxes": boxes}


class Shelves(RefiningProgram):
    def __init__(self):
        super().__init__(Abstraction(Instance("NAME:Shelf", {"Row": 2, "Place": 2, "Count": 3}), values))
        self.boxes = 0

    def populate(self, world):
        world.process("shelf", self.shelf)

    async def shelf(self, process):
        for _ in range(2):
            await process.point("put")
            self.boxes += 1

    def observe(self):
        return {"shelf": self.boxes}

    def undone(self, values):
        return None


def program():
    return Shelves()
'''

MANIFEST = """\
name = "NAME"
protocol = "NAME:Shelf"

[properties]
invariant = ["shelf.counted"]

[interleave.shelves]
program = "NAME:program"
claims = ["refinement", "execution"]
expect = { every = "holds" }
"""


def judge(tmp_path: Path, old: str, new: str) -> tuple[ExitCode, str, str]:
    """Judge the program with one text exchanged. Return also its name, and the whole text."""
    name = f"shelf_{os.getpid()}_{next(NAMES)}"
    assert TEXT.count(old) == 1
    text = TEXT.replace(old, new).replace("NAME", name)
    (tmp_path / f"{name}.py").write_text(text, encoding="utf-8")
    path = tmp_path / f"{name}.toml"
    path.write_text(MANIFEST.replace("NAME", name), encoding="utf-8")
    status = cli.run(["interleave", "--manifest", str(path), "--build", str(tmp_path / "build")])
    return ExitCode(status), name, text


def line_of(part: str, text: str) -> int:
    """The number of the line at which a part of a text begins."""
    return 1 + text[: text.index(part)].count("\n")


MAPPING = 'return {"full": full, "boxes": boxes}'
OBSERVED = 'return {"shelf": self.boxes}'
MAPS, PROGRAM = "def values(", "def program("
AT_ONCE = [
    ("[full for full in EVERY]", "EVERY[:5]", MAPS, "`full` lacks the key (1, 2): give all of 0..1 x 0..2"),
    ("[full for full in EVERY]", "[]", MAPS, "`full` lacks the key (0, 1): give all"),
    (MAPPING, 'return {"full": full, "box": 0}', MAPS, "the variable `boxes` is left out"),
    (MAPPING, 'return {"full": full, "boxes": []}', MAPS, "`boxes` is []: give a whole number"),
    (MAPPING, 'return {"full": 0, "boxes": 0}', MAPS, "`full` is 0: give a dictionary with 0..1 x 0..2"),
    (MAPPING, "return None", MAPS, "the mapping returns None: give a dictionary"),
    (MAPPING, 'return seen["books"]', 'return seen["books"]', "the mapping cannot read this state: KeyError"),
    (OBSERVED, 'return {"shelf": [0]}', "", "the part 'shelf' of observe() is [0], which can change"),
    (OBSERVED, "return [0]", "", "observe() returns [0]: give a dictionary"),
    (OBSERVED, "return self.books", "return self.books", "AttributeError: "),
    ("return Shelves()", "return 5", PROGRAM, "'NAME:program' returned 5, which is no Program"),
    (PROGRAM, "async def program(", "async def program(", "'NAME:program' is `async def`: make it a plain"),
    ("def program()", "def program(rows)", PROGRAM, "'NAME:program': missing a required argument: 'rows'"),
]


@pytest.mark.parametrize(("old", "new", "part", "said"), AT_ONCE, ids=[new for _, new, _, _ in AT_ONCE])
def test_a_mistake_of_the_text_is_bad_input_with_its_line(old, new, part, said, tmp_path, capsys):
    status, name, text = judge(tmp_path, old, new)
    seen = capsys.readouterr().out
    assert status is ExitCode.BAD_INPUT, seen
    place = f"{name}.py:{line_of(part, text)}: " if part else ""
    assert place + said.replace("NAME", name) in seen
    assert "internal" not in seen
    assert "report it" not in seen


FEWER = "[full for full in EVERY if not boxes]"
LATER = [
    ("= boxes > 0", "= [False][boxes]", "refinement", "IndexError"),
    (
        "[full for full in EVERY]",
        FEWER,
        "refinement",
        "`full` lacks the key (0, 1): give all of 0..1",
    ),
    (OBSERVED, 'return {"shelf": [0][self.boxes]}', "execution", "IndexError"),
    ("return None", 'return [None][values["boxes"]]', "execution", "IndexError"),
]


@pytest.mark.parametrize(("old", "new", "claim", "said"), LATER, ids=[one[1] for one in LATER])
def test_a_state_that_cannot_be_read_later_refutes_the_implementation(
    old, new, claim, said, tmp_path, capsys
):
    """The implementation came to it: it is shown with its run, and the line that could not read it."""
    status, name, text = judge(tmp_path, old, new)
    seen = capsys.readouterr().out
    assert f"{claim} is refuted" in seen
    assert status is ExitCode.UNEXPECTED_REFUTATION, seen
    assert f"{name}.py:{line_of(MAPS if new is FEWER else new, text)}: " in seen
    assert said in seen
    assert "tidemark replay tm1-" in seen
