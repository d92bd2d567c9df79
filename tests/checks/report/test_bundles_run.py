"""Each file of a bundle is used as it says: by a user in a folder of his own, from another folder."""

import re
import shlex
from pathlib import Path

import pytest

from tests.checks.cli.test_printed_commands import RACE, shell
from tidemark.checks.cli import app as cli
from tidemark.checks.report.files import VERDICTS, read_result
from tidemark.checks.report.forms.bundle import FOLDER, INDEX, bundle_id
from tidemark.checks.verdicts.counterexample import Shape
from tidemark.checks.verdicts.verdict import Outcome

PROTOCOL = """
from tidemark.models.simulation import Program
from tidemark.spec.language import *


class Lamps(Protocol):
    \"\"\"Lamps that go on and off.\"\"\"

    Lamp = Sort()
    Step = Nat()
    lit: Set[Lamp] = False
    done: Step = 0

    @action(fairness="weak")
    def toggle(s, lamp: Lamp):
        \"\"\"A lamp goes on or off.\"\"\"
        require(s.done == 0)
        s.lit[lamp] = ~s.lit[lamp]

    @action
    def stop(s):
        \"\"\"All lamps stay as they are.\"\"\"
        require(s.done == 0)
        s.done = 1

    @invariant(source="a test")
    def never_both(s):
        \"\"\"Two lamps are never lit together.\"\"\"
        return forall(s.Lamp, s.Lamp, lambda a, b: implies(s.lit[a] & s.lit[b], a == b))

    @leads_to(source="a test", without=("toggle",))
    def goes_out(s, lamp: Lamp):
        \"\"\"A lamp that is lit goes out; false, since nothing may happen any more.\"\"\"
        return s.lit[lamp], ~s.lit[lamp]

    @leads_to(source="a test")
    def stops(s):
        \"\"\"The lamps stop; false, since they may go on for ever.\"\"\"
        return s.done == 0, s.done == 1
"""

MANIFEST = """
name = "lamps"
protocol = "lamps:Lamps"

[properties]
invariant = ["lamps.never_both"]
leads_to = ["lamps.goes_out", "lamps.stops"]

[instance.pair]
engines = ["interpreted", "explore"]
bounds = { Lamp = 2, Step = 1 }
expect = { every = "holds" }

[interleave.every-order]
program = "lamps:race"
claims = ["execution"]
expect = { every = "holds" }
counts = { final_states = 1 }
"""


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A user's project, in which everything fails."""
    folder = tmp_path_factory.mktemp("user") / "my project"
    (folder / "specs").mkdir(parents=True)
    (folder / "specs" / "lamps.py").write_text(PROTOCOL + RACE, encoding="utf-8")
    (folder / "specs" / "lamps.toml").write_text(MANIFEST, encoding="utf-8")
    return folder


@pytest.mark.slow
def test_every_file_of_every_bundle(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def said(line: str, status: int = 1) -> str:
        """What a printed command prints, in this process: a fresh one costs a second."""
        assert cli.run(shlex.split(line)[1:]) == status, line
        return capsys.readouterr().out

    monkeypatch.chdir(home)
    done = shell("tidemark verify --manifest specs/lamps.toml --build 'my build' --jobs 1", home)
    assert done.returncode == 1, done.stdout + done.stderr
    build = home / "my build"
    verdicts = [one.verdict for one in read_result(build / VERDICTS).failures]
    shown = {bundle_id(one): one for one in verdicts if one.counterexample is not None}
    assert sorted(shown) == [
        "explore-pair-lamps.goes_out",
        "explore-pair-lamps.never_both",
        "explore-pair-lamps.stops",
        "interleave-every-order-execution",
        "interpreted-pair-lamps.never_both",
    ]
    for name, verdict in shown.items():
        folder = build / FOLDER / name
        text = (folder / "reproduce.py").read_text(encoding="utf-8")
        (line,) = re.findall(r"^Run it with .*:  (python .*)$", text, re.MULTILINE)
        again = shell(line, home)
        assert again.returncode == 1, f"{line}\n{again.stdout}{again.stderr}"
        assert "REFUTED" in again.stdout
        assert "REFUTED again" in said(verdict.replay)
        if verdict.counterexample is not None and verdict.counterexample.model is not None:
            itf = said(f"tidemark replay '{folder}/trace.itf.json' --manifest specs/lamps.toml")
            assert f"REFUTED {verdict.subject.property_id}" in itf
    text = (build / FOLDER / "explore-pair-lamps.goes_out" / "trace.txt").read_text(encoding="utf-8")
    assert "  -- from here on nothing happens, for ever --\n" in text
    assert "with lamp = 0" in text
    cycle = shown["explore-pair-lamps.stops"].counterexample
    assert cycle is not None
    assert cycle.shape is Shape.LASSO
    assert cycle.loop_start is not None
    assert cycle.loop_start < len(cycle.steps)
    counts = shown["explore-pair-lamps.stops"].counts
    told = ", ".join(f"{name} = {counts[name]}" for name in ("distinct", "generated", "depth"))
    seen = f"counts = {{ {told} }}"
    manifest = home / "specs" / "lamps.toml"
    manifest.write_text(MANIFEST.replace("bounds =", f"{seen}\nbounds ="), encoding="utf-8")
    pinned = said("tidemark verify --manifest specs/lamps.toml --build 'my build' --only '*/pair' --jobs 1")
    assert "never_both is refuted" in pinned
    assert "pinned-counts is refuted" not in pinned
    # What is not refuted in the last run has no bundle.
    left = {path.name for path in (build / FOLDER).iterdir() if path.name != INDEX}
    assert left == {name for name in shown if not name.startswith("interleave")}
    assert all(one.outcome is Outcome.REFUTED for one in shown.values())
