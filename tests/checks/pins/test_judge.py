"""A changed, a missing and a surplus pin are red by name; a judge of pins that says yes is found out."""

import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.checks.gate.toy import data
from tests.protocols.ship import Base
from tidemark.checks.cli.app import run as command
from tidemark.checks.gate.pins import judgements
from tidemark.checks.pins import judge as judge_module
from tidemark.checks.pins.judge import JUDGE
from tidemark.checks.verdicts.exit_codes import ExitCode
from tidemark.checks.verdicts.judge import Context
from tidemark.checks.verdicts.plan import Task
from tidemark.checks.verdicts.verdict import Judgement, Verdict
from tidemark.models.manifest import Manifest, ManifestError, Pin, load, lock_file, manifest_files, parse
from tidemark.models.manifest.pins import FORM, READING, read_lock
from tidemark.models.pins.items import said_by

WEAKER = "tests.protocols.ship:WeakerClaim"
CLAIM = "ship.never_too_much"


def manifest(pinned: list[Pin], **entry: Any) -> Manifest:
    """A manifest with one comparison of pins, and a variant that is judged."""
    judged = {"engines": ["explore"], "bounds": {}, "expect": {"every": "holds"}}
    content: dict[str, object] = {
        "name": "ship",
        "protocol": Base.reference(),
        "properties": {"invariant": [CLAIM]},
        "pins": [{"name": "ship-pins", "expect": {"every": "holds"}}, *([entry] if entry else [])],
        "instance": [judged | {"name": "weaker", "protocol": WEAKER}],
    }
    return parse(content, file="ship.toml", pinned=tuple(pinned))


def verdicts(given: Manifest, place: int = 0) -> list[Judgement]:
    entry = given.pins[place]
    return judgements(Task(given, entry, "pins"), JUDGE, JUDGE.run(entry, Context(manifest=given)))


def wrong(found: list[Judgement]) -> dict[str, Verdict]:
    return {one.verdict.subject.property_id: one.verdict for one in found if not one.ok}


@pytest.fixture
def pins() -> list[Pin]:
    return [one.pin for one in said_by(Base.reference(), [WEAKER]).values()]


def test_what_is_as_pinned(pins: list[Pin]) -> None:
    found = verdicts(manifest(pins))
    assert len(found) == len(pins) + 1  # one for the variants, and the pinned claims of the entry
    assert wrong(found) == {}


def test_a_changed_claim_is_red_by_name_with_its_text(pins: list[Pin]) -> None:
    old = next(pin for pin in pins if pin.id == CLAIM)
    changed = old.model_copy(update={"digest": "0" * 16})
    (verdict,) = wrong(verdicts(manifest([changed if pin is old else pin for pin in pins]))).values()
    assert verdict.subject.property_id == CLAIM
    assert verdict.reason == f"{CLAIM} says something else than what is pinned"
    assert "1 <= weight" in verdict.notes[0]
    assert "tidemark pin ship --against HEAD" in verdict.notes[-2]
    assert "tidemark pin ship " in verdict.notes[-1]


def test_a_claim_in_other_words_is_red(pins: list[Pin]) -> None:
    forged = [pin.model_copy(update={"wording": "0" * 16}) if pin.id == CLAIM else pin for pin in pins]
    (verdict,) = wrong(verdicts(manifest(forged))).values()
    assert "in other words" in verdict.reason


@pytest.mark.parametrize("gone", ["state", "action put", CLAIM, "ship.something_is_heavy", WEAKER])
def test_a_missing_pin_is_red(gone: str, pins: list[Pin]) -> None:
    found = wrong(verdicts(manifest([pin for pin in pins if pin.id != gone])))
    assert f"{gone} is not pinned" in {one.reason for one in found.values()}


def test_no_lock_is_red(pins: list[Pin]) -> None:
    assert {*wrong(verdicts(manifest([])))} >= {pin.id for pin in pins} - {WEAKER} | {"variants"}


@pytest.mark.parametrize("name", ["action sink", "ship.never_sinks", "tests.protocols.ship:MoreState"])
def test_a_surplus_pin_is_red(name: str, pins: list[Pin]) -> None:
    more = pins[0].model_copy(update={"id": name})
    (verdict,) = wrong(verdicts(manifest([*pins, more]))).values()
    assert verdict.reason == f"{name} is pinned, but is not in the protocol"


def refuted(pins: list[Pin], *claims: str) -> Manifest:
    """A manifest in which the pins of the base must tell a variant from it."""
    expect = {"every": "holds", "refuted": list(claims)}
    return manifest(pins, name="ship-refuted", protocol=WEAKER, expect=expect)


def test_the_pins_tell_a_variant_by_name(pins: list[Pin]) -> None:
    assert wrong(verdicts(refuted(pins, CLAIM), 1)) == {}
    assert set(wrong(verdicts(refuted(pins), 1))) == {CLAIM}
    assert set(wrong(verdicts(refuted(pins, CLAIM, "state"), 1))) == {"state"}
    assert set(wrong(verdicts(refuted(pins, CLAIM, "ship.unknown"), 1))) == {"pinned-claims"}


def test_a_judge_that_says_yes_is_found_out(monkeypatch: pytest.MonkeyPatch, pins: list[Pin]) -> None:
    monkeypatch.setattr(judge_module, "differences", lambda *_: [])
    assert set(wrong(verdicts(refuted(pins, CLAIM), 1))) == {CLAIM}


@pytest.mark.parametrize("path", manifest_files(), ids=lambda path: path.parent.name)
def test_every_protocol_compares_its_pins_and_sees_them_refuted(path: Path) -> None:
    content = load(path)
    assert any(entry.compares(content.protocol) for entry in content.pins), "add a [pins.NAME] entry"
    assert [entry.expect.refuted for entry in content.pins if entry.flipped] == [(next(iter(content.kinds)),)]
    assert {pin.id for pin in read_lock(lock_file(path)) if pin.of_variant} == set(content.variants())


TOML = 'name = "lights"\nprotocol = "tests.protocols.lights:Lights"\n'


def test_pin_writes_what_differs_and_shows_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, file = tmp_path / "lights.toml", tmp_path / "lights.claims.lock"
    path.write_text(TOML, encoding="utf-8")
    assert load(path).pins == (), "there is nothing to compare with"
    assert command(["pin", "--manifest", str(path)]) == 0
    assert "lights: 6 claims, steps and variants are pinned now" in capsys.readouterr().out
    assert file.read_text(encoding="utf-8").endswith(" reachable lights.second_turn\n")
    assert path.read_text(encoding="utf-8") == TOML
    assert wrong(verdicts(load(path))) == {}
    good = file.read_text(encoding="utf-8")
    lines = good.splitlines(keepends=True)
    grows = next(line for line in lines if line.endswith(" lights.count_grows\n"))
    file.write_text(good.replace(grows, "0" * 16 + grows[16:]), encoding="utf-8")
    assert command(["pin", "lights", "--manifest", str(path)]) == 0
    shown = "says something else than what is pinned\n    transition_invariant\n    turns <= turns'"
    assert f"lights.count_grows {shown}" in capsys.readouterr().out
    assert file.read_text(encoding="utf-8") == good
    assert command(["pin", "--manifest", str(path)]) == 0
    assert "0 changed, 6 as before" in capsys.readouterr().out
    file.write_text(good.replace(grows, ""), encoding="utf-8")
    assert command(["pin", "--manifest", str(path)]) == 0
    assert "lights.count_grows is not pinned\n    transition_invariant\n" in capsys.readouterr().out
    assert file.read_text(encoding="utf-8") == good


GIT = ("git", "-c", "user.name=a", "-c", "user.email=a@b.example", "-c", "commit.gpgsign=false")
PROTOCOL = '''
from tidemark.spec.language import Int, Protocol, invariant


class Counter(Protocol):
    """A counter."""

    Number = Int()
    count: Number = 0

    @invariant(source="nowhere")
    def small(s):
        """It is small."""
        return s.count <= LIMIT
'''


@pytest.mark.skipif(shutil.which("git") is None, reason="git is no Python package")
def test_against_shows_the_text_at_a_revision_and_now(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    name = "counter_of_two_revisions"
    path, module = tmp_path / f"{name}.toml", tmp_path / f"{name}.py"
    path.write_text(f'name = "{name}"\nprotocol = "{name}:Counter"\n', encoding="utf-8")
    module.write_text(PROTOCOL.replace("LIMIT", "3"), encoding="utf-8")
    assert command(["pin", "--manifest", str(path)]) == 0
    for words in (["init", "-q"], ["add", "."], ["commit", "-qm", "first"]):
        subprocess.run([*GIT, *words], cwd=tmp_path, check=True)
    module.write_text(PROTOCOL.replace("LIMIT", "40"), encoding="utf-8")
    before = lock_file(path).read_text(encoding="utf-8")
    capsys.readouterr()
    # In a process of its own: this one has imported the module as it was.
    words = [sys.executable, "-m", "tidemark.checks", "pin", "--manifest", str(path)]
    done = subprocess.run([*words, "--against", "HEAD"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "    - count <= 3\n    + count <= 40\n" in done.stdout
    assert "small says something else than what is pinned: weaker than before\n" in done.stdout
    assert f"{name}: 1 of 2 differ from HEAD" in done.stdout
    assert lock_file(path).read_text(encoding="utf-8") == before
    module.write_text("from tidemark.spec.language import", encoding="utf-8")
    subprocess.run([*GIT, "commit", "-qam", "broken"], cwd=tmp_path, check=True)
    module.write_text(PROTOCOL.replace("LIMIT", "3"), encoding="utf-8")
    for revision, said in (("nowhere", "git archive"), ("HEAD", "the protocols of HEAD cannot be traced")):
        assert command(["pin", "--manifest", str(path), "--against", revision]) == ExitCode.BAD_INPUT
        assert said in capsys.readouterr().err


def test_mistakes_of_users(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert command(["pin", "tos"]) == ExitCode.BAD_INPUT
    assert "did you mean 'tso'?" in capsys.readouterr().err
    path, file = tmp_path / "lights.toml", tmp_path / "lights.claims.lock"
    path.write_text(TOML, encoding="utf-8")
    head, digest = f"# {FORM}: ...\n", "0123456789abcdef"
    for text, said in [
        ("", "begins with ''"),
        ("# tidemark claims 7: ...\n", "another version's form"),
        (
            f"{head}{digest} {digest} state\n" + f"{digest} {digest} state\n",
            "line 3 pins 'state' a second time",
        ),
        (f"{head}{digest} state\n", "line 2 is not two digests and an id"),
        (f"{head}<<<<<<< ours\n", "line 2 is not two digests and an id"),
    ]:
        file.write_text(text, encoding="utf-8")
        assert command(["pin", "--manifest", str(path)]) == ExitCode.BAD_INPUT
        assert said in (error := capsys.readouterr().err)
        assert "lights.claims.lock" in error
    file.unlink()
    old = tmp_path / "lights.pins.toml"
    for text in ("pin = 3", "[[pin]]\nid = 'state'\n", "a ="):
        old.write_text(text, encoding="utf-8")
        assert command(["pin", "--manifest", str(path)]) == ExitCode.BAD_INPUT
        assert "lights.pins.toml: cannot be read" in capsys.readouterr().err


def test_a_file_in_the_form_before_locks_is_compared(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, old = tmp_path / "lights.toml", tmp_path / "lights.pins.toml"
    path.write_text(TOML, encoding="utf-8")
    said = said_by("tests.protocols.lights:Lights")
    entries = [f"[[pin]]\nid = '{name}'\ndigest = '{one.pin.digest}'\n" for name, one in said.items()]
    whole = f"{TOML}[properties]\ninvariant = ['lights.never_both']\n"
    whole += "transition_invariant = ['lights.count_grows']\nreachable = ['lights.second_turn']\n"
    path.write_text(whole, encoding="utf-8")
    old.write_text("".join(entries), encoding="utf-8")
    assert wrong(verdicts(load(path))) == {}
    digest = said["lights.count_grows"].pin.digest
    old.write_text("".join(entries).replace(digest, "0" * 16), encoding="utf-8")
    assert set(wrong(verdicts(load(path)))) == {"lights.count_grows"}
    assert command(["pin", "--manifest", str(path)]) == 0
    assert f"{old} is in the form before locks" in capsys.readouterr().out
    assert wrong(verdicts(load(path))) == {}, "the lock counts now"
    inside = data(pins=[{"name": "p", "expect": {"every": "holds"}, "variants": ["a:B"]}])
    with pytest.raises(ManifestError, match="variants is written in the manifest"):
        parse(inside, file="lights.toml")


def test_a_reading_that_says_something_else_is_red_by_name() -> None:
    path = next(file for file in manifest_files() if file.parent.name == "streaming")
    given = load(path)
    entry = next(one for one in given.pins if one.compares(given.protocol))
    own, *_ = (pin for pin in entry.pinned if pin.of_reading and ".mutants." not in pin.id)
    assert "glue" in said_by(given.protocol, (), [own.id.removeprefix(READING)])[own.id].text
    changed = own.model_copy(update={"digest": "0" * 16})
    pinned = tuple(changed if pin is own else pin for pin in entry.pinned)
    found = JUDGE.run(entry.model_copy(update={"pinned": pinned}), Context(manifest=given))
    wrong = [verdict for verdict in found if verdict.outcome.value != "holds"]
    assert [verdict.reason for verdict in wrong] == [f"{own.id} says something else than what is pinned"]
    missing = entry.model_copy(update={"pinned": tuple(pin for pin in entry.pinned if pin is not own)})
    (verdict,) = (v for v in JUDGE.run(missing, Context(manifest=given)) if v.outcome.value != "holds")
    assert verdict.reason == f"{own.id} is not pinned"
