"""Mistakes planted in the example of docs/guide/connect.md: each has its own words, and none is internal."""

import itertools
import re
from pathlib import Path

import pytest

from tests.literate.test_sessions import BLOCK, ROOT, change
from tidemark.checks.cli import app as cli
from tidemark.checks.verdicts.exit_codes import ExitCode

NAMES = itertools.count()
PAGE = (ROOT / "docs" / "guide" / "connect.md").read_text(encoding="utf-8").split("## The adapter")[0]

NEWEST, TOKEN, LAST = '"newest": seen["store"]}', '"token": known,', '    last, given = seen["lease"]'
SERVE, CALL = "parts.service.grant)", 'process.call("lease", "grant", number)'
PROCESS, OBSERVE = 'world.process("lease", lease)', "return self.parts.observe()"
MADE, BASE = "return LeaseProgram(nodes)", "super().__init__(Abstraction(instance, values))"
IN_THE_CODE = [
    (
        NEWEST,
        '"newest": seen["stores"]}',
        "connect.py:23: the mapping cannot read this state: KeyError: 'stores'",
    ),
    (NEWEST, '"newst": 0}', "connect.py:19: the variable `newest` is left out"),
    (NEWEST, '"newest": "0"}', "connect.py:19: `newest` is '0': give a whole number"),
    (NEWEST, '"newest": None}', "connect.py:19: `newest` is None: give a whole number"),
    (NEWEST, '"newest": 1.5}', "connect.py:19: `newest` is 1.5: give a whole number"),
    (NEWEST, '"newest": -1}', "the first state is not initial: newest: 0 -> -1"),
    (TOKEN, '"token": {},', "connect.py:19: `token` lacks the key 0: give all of 0..1"),
    (TOKEN, '"token": {str(k): 0 for k in known},', "`token` lacks the key 0: give all of 0..1"),
    (TOKEN, '"token": dict.fromkeys(known),', "connect.py:19: `token[0]` is None: give a whole number"),
    ("def values(seen):", "async def values(seen):", "the mapping returns <coroutine object values"),
    (
        "def values(seen):",
        "def values():",
        "connect.py:19: the mapping cannot read this state: TypeError: values()",
    ),
    (
        LAST,
        f'    raise ValueError("no")\n{LAST}',
        "connect.py:21: the mapping cannot read this state: ValueError: no",
    ),
    (LAST, f"    raise SystemExit(3)\n{LAST}", "connect.py:21: SystemExit: sys.exit(3)"),
    (SERVE, "parts.service.grants)", "AttributeError(\"'LeaseService' object has no attribute 'grants'\")"),
    (SERVE, "5)", "TypeError(\"'int' object is not callable\")"),
    (SERVE, "parts.service.grant(0))", "TypeError(\"'coroutine' object is not callable\")"),
    (CALL, CALL.replace("lease", "leas"), "node 0 sends 'grant' to 'leas', which is none of: lease, node 0,"),
    (CALL, CALL.replace("grant", "grnt"), "lease does not serve 'grnt'; it serves: grant"),
    (CALL, CALL.replace(", number", ""), "missing 1 required positional argument: 'node'"),
    (f"await {CALL}", CALL, "`token[0]` is <coroutine object Process.call"),
    (
        PROCESS,
        'world.process("lease", lease())',
        "connect.py:50: TypeError: LeaseProgram.populate.<locals>.lease()",
    ),
    (PROCESS, 'world.process("lease", 5)', "connect.py:50: TypeError: 'int' object is not callable"),
    (PROCESS, 'world.process("store", lease)', "connect.py:51: process 'store' is defined twice"),
    (PROCESS, 'world.process("leases", lease)', "which is none of: leases, node 0"),
    ("async def lease(process)", "def lease(process)", "connect.py:50: TypeError: a coroutine was expected"),
    ("async def run(process)", "def run(process)", "connect.py:45: "),
    (
        "            return run\n",
        "            pass\n",
        "connect.py:53: TypeError: 'NoneType' object is not callable",
    ),
    (OBSERVE, "pass", "observes nothing"),
    (
        f"def observe(self):\n        {OBSERVE}",
        f"async def observe(self):\n        {OBSERVE}",
        "give a dictionary",
    ),
    ("def populate(", "def populat(", "connect.py:26: LeaseProgram has no method populate(self, world)"),
    (
        "def populate(self, world)",
        "def populate(self)",
        "connect.py:26: LeaseProgram.populate(self, world): too many",
    ),
    ("def populate(", "async def populate(", "LeaseProgram.build defined no process"),
    (
        BASE,
        "pass",
        "connect.py:26: LeaseProgram does not call super().__init__(Abstraction(instance, values))",
    ),
    (BASE, "super().__init__(values)", "is no Abstraction(instance, values)"),
    (BASE, BASE.replace("values", "5"), "connect.py:31: the mapping is 5: give a function"),
    ('"Node": nodes, "Token": nodes', '"Node": nodes', "no bound for Token; add it"),
    ('"Token": nodes', '"Tokn": nodes', "no sort or number 'Tokn'"),
    (MADE, "LeaseProgram(nodes)", "program' returned None, which is no Program"),
    (MADE, "yield LeaseProgram(nodes)", "program' returned <generator object program"),
    ("def program(nodes)", "def program()", "the constants that it is given are: nodes"),
]
AT_THE_START = [
    (TOKEN, '"token": 0,', "connect.py:19: `token` is 0: give a dictionary with 0..1"),
    (OBSERVE, 'return {"lease": [0]}', "the part 'lease' of observe() is [0], which can change"),
    (OBSERVE, "return self.books", "connect.py:56: AttributeError: "),
    ("def program(nodes)", "async def program(nodes)", "'connect:program' is `async def`: make it a plain"),
]
IN_A_LATER_STATE = [
    (NEWEST, '"newest": [0][seen["store"]]}', "refinement is refuted", "connect.py:23: ", "IndexError"),
    (
        TOKEN,
        '"token": {} if seen["store"] else known,',
        "refinement is refuted",
        "connect.py:19: ",
        "`token` lacks the key 0: give all of 0..1",
    ),
    (
        OBSERVE,
        'return self.parts.observe() | {"store": [0][self.parts.store.newest]}',
        "execution is refuted",
        "IndexError",
    ),
    (
        OBSERVE,
        f"{OBSERVE}\n\n    def undone(self, values):\n        return [None][values['newest']]",
        "execution is refuted",
        "IndexError",
    ),
]
IN_THE_MANIFEST = [
    (":program", ":progrm", "Did you mean 'program'?"),
    (
        "{ nodes = 2 }",
        "{ nods = 2 }",
        "missing a required argument: 'nodes'; the constants that it is given are: nods",
    ),
    (
        '"refinement", "execution"',
        '"refinemnt"',
        "claim some of: execution, lease.late_write, lease.was_given, refinement",
    ),
    ('["refinement", "execution", "lease.was_given"]', "[]", "claims is empty"),
    ('every = "holds"', 'every = "hold"', "should be 'proved', 'holds' or 'refuted'"),
]


def judged(end: str, old: str, new: str, folder: Path) -> ExitCode:
    """Judge the example with one text exchanged in its files of one kind."""
    of = f"guide{next(NAMES)}_"
    for _, options, text in BLOCK.findall(PAGE):
        file = re.search(r"file=(\S+)", options)
        if file and options.endswith("replace"):
            change(folder / file[1], text)
        elif file:
            (folder / file[1]).write_text(text, encoding="utf-8")
    changed = 0
    for file_ in sorted(folder.iterdir()):
        text = file_.read_text(encoding="utf-8")
        if file_.suffix == end and old in text and file_.stem != "service":
            text, changed = text.replace(old, new, 1), changed + 1
        text = re.sub(r"\b(lease|connect)(?=:[A-Za-z])|(?<=from )(service)\b", rf"{of}\g<0>", text)
        file_.rename(file_.with_name(of + file_.name)).write_text(text, encoding="utf-8")
    assert changed == 1
    at = ["--manifest", str(folder / f"{of}lease.toml"), "--build", str(folder / "build")]
    return ExitCode(cli.run(["interleave", *at]))


def said_to(capsys: pytest.CaptureFixture[str]) -> str:
    seen = re.sub(r"guide\d+_", "", "".join(capsys.readouterr()))
    assert "report it" not in seen
    return seen


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.filterwarnings("ignore:coroutine")  # some of the mistakes leave a coroutine that nobody awaits
@pytest.mark.parametrize(
    ("end", "old", "new", "said"),
    [*((".py", *row) for row in IN_THE_CODE), *((".toml", *row) for row in IN_THE_MANIFEST)],
)
def test_a_mistake_in_the_example_is_named(
    end: str, old: str, new: str, said: str, tmp_path: Path, capsys
) -> None:
    assert judged(end, old, new, tmp_path) not in (ExitCode.AS_EXPECTED, ExitCode.INTERNAL_ERROR)
    assert said in said_to(capsys)


@pytest.mark.parametrize(("old", "new", "said"), AT_THE_START)
def test_what_cannot_be_read_at_the_start_is_bad_input(
    old: str, new: str, said: str, tmp_path: Path, capsys
) -> None:
    assert judged(".py", old, new, tmp_path) is ExitCode.BAD_INPUT
    assert said in said_to(capsys)


@pytest.mark.parametrize(("old", "new", "said"), [(old, new, said) for old, new, *said in IN_A_LATER_STATE])
def test_a_state_that_cannot_be_read_later_refutes_the_implementation(
    old: str, new: str, said: list[str], tmp_path: Path, capsys
) -> None:
    """The implementation came to it: it is shown with its run, and the line that could not read it."""
    assert judged(".py", old, new, tmp_path) is ExitCode.UNEXPECTED_REFUTATION
    seen = said_to(capsys)
    assert [words for words in (*said, "tidemark replay tm1-") if words not in seen] == []
