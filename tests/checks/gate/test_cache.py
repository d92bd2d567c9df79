"""What has changed is judged again, and nothing else; only a whole record of our own is believed."""

import json
import time
from collections.abc import Callable
from importlib import metadata
from pathlib import Path

import pytest

from tests.checks.gate.lab import BY_LIGHTS, EVERYTHING, FERRY, Lab, result, verdict
from tidemark.checks.cache import kept, toolchain
from tidemark.checks.cache import key as key_module
from tidemark.checks.cache.closure import Sources
from tidemark.checks.cache.kept import AUDIT, Kept, Use
from tidemark.checks.gate import resume
from tidemark.checks.verdicts import sealed
from tidemark.checks.verdicts.plan import Task
from tidemark.checks.verdicts.result import TaskResult
from tidemark.checks.verdicts.verdict import inconclusive, judge

EXPLORED = frozenset({"explore/small", "explore/large", "explore/ferry"})
MUTATED = frozenset({"mutate/hasty", "mutate/stuck", "mutate/broken"})
RUN = frozenset({"interleave/world", "mutate/broken"})
SMALL = frozenset({"explore/small", "mutate/hasty"})


@pytest.fixture
def lab(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Lab:
    made = Lab(tmp_path, monkeypatch)
    assert made.run() == EVERYTHING
    return made


def test_the_protocols_of_the_project_are_read_as_trees(lab: Lab) -> None:
    for name in ("explore/ferry", "mutate/hasty", "mutate/stuck"):
        (task,) = [one for one in lab.tasks() if one.name == name]
        key = lab.kept().key(task)
        assert key is not None
        assert {part.partition(" ")[0] for part in key.parts} >= {"protocol"}
        assert not any(part.startswith("code of lab") for part in key.parts)


def test_nothing_changed_everything_is_taken_over(lab: Lab) -> None:
    assert lab.run() == frozenset()
    assert lab.last.remarks == []


def test_what_is_taken_over_is_the_same_and_says_since_when(lab: Lab) -> None:
    tasks = lab.tasks()
    taken = lab.kept().take_over(tasks)
    for task in tasks:
        (one,) = taken[task.name].judgements
        assert one.taken_over.startswith("20")
        assert one.model_copy(update={"taken_over": ""}) == verdict(task)


def edit(name: str, old: str, new: str) -> Callable[[Lab], None]:
    return lambda lab: lab.replace(name, old, new)


def entry(section: str, place: int, **changes: object) -> Callable[[Lab], None]:
    return lambda lab: lab.data[section][place].update(changes)


CHANGES = {
    "an action": (edit("lights", "s.turns = s.turns + 1", "s.turns = s.turns + 2"), BY_LIGHTS),
    # The program loads the file, and its mutant too; Stuck and Hasty override one action each.
    "an action that one mutant overrides": (
        edit("lights", "require(s.lit & s.CAREFUL)", "require(s.lit)"),
        BY_LIGHTS,
    ),
    "a lemma": (edit("lights", "<= 99", "<= 98"), BY_LIGHTS),
    "a claim": (edit("lights", "s.turns >= 1", "s.turns > 0"), BY_LIGHTS),
    "an option": (edit("lights", "option(True)", "option(False)"), BY_LIGHTS),
    "a comment in the protocol": (edit("lights", "class Lights", "# a lamp\nclass Lights"), RUN),
    "a bound": (entry("instance", 1, bounds={"Turn": 8}), {"explore/large", "mutate/stuck"}),
    "a constant": (entry("instance", 0, constants={"CAREFUL": False}), SMALL),
    "a pinned count": (entry("instance", 0, counts={"distinct": 4}), SMALL),
    "an expectation": (entry("instance", 0, expect={"every": "holds", "refuted": ["lights.bright"]}), SMALL),
    "the constant of a program": (entry("interleave", 0, constants={"rows": 2}), RUN),
    "a time-out": (entry("proof", 0, timeout_s=5.0), {"prove/any"}),
    "a killer": (entry("mutant", 0, killer="lights.few"), {"mutate/hasty"}),
    "a mutant of the specification": (edit("mutants", "s.turns > 5", "s.turns > 6"), {"mutate/stuck"}),
    "a mutant of the implementation": (edit("faulty", "return world", "return None"), {"mutate/broken"}),
    "the implementation": (edit("lamp", "return not on", "return on"), RUN),
    "a file that the program loads lazily": (edit("wiring", "230", "110"), RUN),
    "a file of the judge": (edit("searching", "def run():", "def run(x=1):"), EXPLORED | MUTATED),
    "a file that the judge loads lazily": (edit("lazily", "import", "# why\nimport"), EXPLORED | MUTATED),
    "a file two steps away": (edit("deeper", "1", "2"), EXPLORED | MUTATED),
    "a module that is named as text": (edit("named", "pass", "return 1"), EXPLORED | MUTATED),
    "what only a type checker reads": (edit("typed", "1", "2"), frozenset()),
    "the judge of one kind": (edit("proving", "import", "# why\nimport"), {"prove/any"}),
    "another protocol": (edit("ferry", "require(s.left)", "require(s.left & ~s.right)"), FERRY),
    "a pinned property": (
        lambda lab: lab.data["properties"].update(lemma=["lights.few", "lights.more"]),
        BY_LIGHTS,
    ),
    "a new module shadows nothing": (lambda lab: lab.write("unrelated", "X = 1\n"), frozenset()),
    "an entry beside": (
        lambda lab: lab.data["instance"].append(dict(lab.data["instance"][0], name="third")),
        {"explore/third"},
    ),
}  # fmt: skip


@pytest.mark.parametrize("what", CHANGES)
def test_exactly_what_depends_on_a_change_is_judged_again(lab: Lab, what: str) -> None:
    change, expected = CHANGES[what]
    change(lab)
    assert lab.run() == expected
    assert lab.run() == frozenset()


def test_going_back_finds_the_earlier_verdicts(lab: Lab) -> None:
    lab.replace("lamp", "return not on", "return on")
    assert lab.run() == RUN
    lab.replace("lamp", "return on", "return not on")
    assert lab.run() == frozenset()


def test_a_missing_module_that_appears(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lab = Lab(tmp_path, monkeypatch)
    lab.write("running", "try:\n    from LAB import fast\nexcept ImportError:\n    pass\n")
    lab.run()
    lab.write("fast", "X = 1\n")
    assert lab.run() == {"interleave/world"}


BY_NAME = "from importlib import import_module\n\ndef f():\n    import_module({})\n"
NAMES = ('f"{__package__}.x"', "'.'.join(parts)", "name + '.x'", "get_name()")


@pytest.mark.parametrize("text", ["import pkgutil\n", *map(BY_NAME.format, NAMES)])
def test_code_that_cannot_be_followed_counts_as_the_whole_package(text, tmp_path, monkeypatch):
    lab = Lab(tmp_path, monkeypatch)
    lab.write("running", text)
    lab.run()
    lab.replace("ferry", "'''Go.'''", "'''Cross.'''")
    assert lab.run() == FERRY | {"interleave/world"}


def test_the_seed(lab: Lab) -> None:
    assert lab.run(seed=1) == EVERYTHING
    assert lab.run(seed=0) == frozenset()


def test_the_version_of_a_library(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only the judge that loads the library; ``pins``, which all use, loads pydantic."""
    versions = dict[str, str]()
    real = toolchain.version_of
    monkeypatch.setattr(toolchain, "version_of", lambda name: versions.get(name) or real(name))
    lab.write("proving", "import hypothesis\n")
    assert lab.run() == {"prove/any"}
    versions["sortedcontainers"] = "99.0"  # hypothesis requires it
    assert lab.run() == {"prove/any"}
    versions["pydantic"] = "99.0"
    assert lab.run() == EVERYTHING


def test_the_version_of_python(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    python = toolchain.python()
    monkeypatch.setattr(toolchain, "python", lambda: python | {"python": "3.99"})
    assert lab.run() == EVERYTHING


class TestArguments:
    def argued(self, lab: Lab, monkeypatch: pytest.MonkeyPatch, said: list[str]) -> set[str]:
        """Judge a manifest that rests on the proof of the lights; the names of what was judged."""

        def of(_: object, manifest: object) -> tuple[list[str], list[str]]:
            return said, ["prove/any"]

        monkeypatch.setattr(key_module.Arguments, "of", of)
        # What an argument says changes with a manifest, or with the code that one refers to.
        monkeypatch.setattr(key_module.Keys, "of_manifest", lambda *_: key_module.digest(said))
        lab.data["argument"] = [
            {"name": "rests", "claims": ["ferry.somewhere"], "expect": {"every": "holds"}, "counts": {}}
        ]
        monkeypatch.setattr(
            Lab, "kept", lambda self, _real=Lab.kept, **options: with_argue(_real(self, **options), self.name)
        )
        return set(lab.run()) & {"argue/rests"}

    def test_rests_on_its_proofs(self, lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
        assert self.argued(lab, monkeypatch, ["a"]) == {"argue/rests"}
        assert lab.run() == frozenset()
        lab.replace("lights", "<= 99", "<= 98")
        assert "argue/rests" in lab.run()
        lab.data["proof"][0]["timeout_s"] = 7.0
        assert lab.run() == {"argue/rests", "prove/any"}

    def test_and_on_what_it_takes_for_granted(self, lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
        said = ["a"]
        assert self.argued(lab, monkeypatch, said) == {"argue/rests"}
        said.append("b")
        assert lab.run() == {"argue/rests"}


def with_argue(kept: Kept, package: str) -> Kept:
    kept._judges = {**kept._judges, "argue": f"{package}.running"}
    kept._keys._judges = kept._judges
    return kept


class TestRecords:
    def record(self, lab: Lab, task: str = "prove/any") -> Path:
        (path,) = lab.last.folder.glob(task.replace("/", "-") + ".*.json")
        return path

    @pytest.mark.parametrize(
        ("damage", "word"),
        [
            (lambda text: "", "damaged"),
            (lambda text: text[: len(text) // 2], "damaged"),
            (lambda text: text.replace('"outcome": "holds"', '"outcome": "proved"'), "damaged"),
            (lambda text: text.replace("Turn 3", "Turn 9"), "damaged"),
            (lambda text: "\x00\xff binary", "damaged"),
            (lambda text: "[]\n[]\n", "damaged"),
            (lambda text: text.replace('"format": 1', '"format": 2', 1), "foreign"),
        ],
    )
    def test_a_damaged_or_newer_record_is_judged_again_and_said_once(self, lab: Lab, damage, word) -> None:
        path = self.record(lab)
        before = path.read_text(encoding="utf-8")
        path.write_text(damage(before), encoding="utf-8")
        assert path.read_text(encoding="utf-8") != before
        assert lab.run() == {"prove/any"}
        (remark,) = lab.last.remarks
        assert word in remark
        assert path.name in remark
        assert lab.run() == frozenset()
        assert lab.last.remarks == []

    @pytest.mark.parametrize(
        "change", [{"made_with": "another machine"}, {"task": "prove/other"}, {"key": "0"}]
    )
    def test_a_whole_record_of_something_else_is_foreign(self, lab: Lab, change) -> None:
        path = self.record(lab)
        body = json.loads(path.read_text(encoding="utf-8").split("\n")[1])
        sealed.write_sealed(path, json.dumps(body | change), version=kept.FORMAT)
        assert lab.run() == {"prove/any"}
        assert "foreign" in lab.last.remarks[0]

    def test_a_record_whose_content_makes_no_verdict(self, lab: Lab) -> None:
        path = self.record(lab)
        body = json.loads(path.read_text(encoding="utf-8").split("\n")[1])
        body["judgements"][0]["verdict"]["counts"] = {}  # a verdict over nothing
        sealed.write_sealed(path, json.dumps(body), version=kept.FORMAT)
        assert lab.run() == {"prove/any"}
        assert "damaged" in lab.last.remarks[0]

    def test_what_was_computed_from_files_is_computed_again(self, lab: Lab) -> None:
        path = lab.last.folder / "computed.json"
        path.write_text(path.read_text(encoding="utf-8").replace("lights", "lamps"), encoding="utf-8")
        assert lab.run() == frozenset()
        assert "checksum" in lab.last.remarks[0]

    def test_an_older_verdict_is_dropped_after_some_generations(self, lab: Lab) -> None:
        for number in range(8):
            lab.data["proof"][0]["timeout_s"] = 100.0 + number
            lab.run()
        assert len(list(lab.last.folder.glob("prove-any.*.json"))) == kept.GENERATIONS

    def test_a_folder_that_cannot_be_made(self, lab: Lab) -> None:
        lab.build = lab.build / "verdicts.json"
        lab.build.write_text("a file", encoding="utf-8")
        assert lab.run() == EVERYTHING
        (remark,) = lab.last.remarks
        assert "cannot be written" in remark
        assert "--build" in remark

    def test_a_folder_that_is_a_file(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        lab = Lab(tmp_path, monkeypatch)
        lab.build.mkdir()
        (lab.build / kept.FOLDER).write_text("a file", encoding="utf-8")
        assert lab.run() == EVERYTHING
        assert "not a folder" in lab.last.remarks[0]


class TestWhatIsKept:
    def changed(self, lab: Lab) -> tuple[Kept, Task]:
        """The proof is another one: it is to be judged again."""
        lab.data["proof"][0]["timeout_s"] = 9.0
        kept, tasks = lab.kept(), lab.tasks()
        kept.take_over(tasks)
        (task,) = [one for one in tasks if one.name == "prove/any"]
        return kept, task

    @pytest.mark.parametrize("wrong", ["inconclusive", "refuted"])
    def test_only_what_is_as_expected(self, lab: Lab, wrong: str) -> None:
        kept, task = self.changed(lab)
        good = verdict(task)
        if wrong == "inconclusive":
            bad = judge(inconclusive(good.verdict.subject, reason="time-out"), expected=good.expected)
        else:
            bad = verdict(task, expected="refuted")
        kept.keep(task, result(task, good, bad))
        assert lab.run() == {"prove/any"}

    def test_what_its_text_does_not_say_is_not_kept_and_that_is_said(self, lab: Lab) -> None:
        kept, task = self.changed(lab)
        good = verdict(task)
        rates = {"states/s": float("inf")}
        lossy = good.model_copy(update={"verdict": good.verdict.model_copy(update={"rates": rates})})
        kept.keep(task, result(task, lossy))
        assert kept.remarks == ["1 verdicts are not kept, because text loses them: prove/any"]
        assert lab.run() == {"prove/any"}

    def test_nothing_is_nothing_and_what_has_no_pin_is_said_again(self, lab: Lab) -> None:
        kept, task = self.changed(lab)
        kept.keep(task, TaskResult(task="prove/any"))
        kept.keep(task, result(task).model_copy(update={"unpinned": "any"}))
        assert lab.run() == {"prove/any"}

    def test_what_was_judged_while_a_file_changed(self, lab: Lab) -> None:
        begun = time.time()
        lab.replace("lamp", "return not on", "return on")
        assert lab.run(begun=begun) == RUN
        (remark,) = lab.last.remarks
        assert remark.startswith("2 verdicts are not kept, because files")
        assert lab.run() == RUN

    def test_fresh_judges_everything_and_keeps_it(self, lab: Lab) -> None:
        lab.replace("lamp", "return not on", "return on")
        assert lab.run(use=Use(read=False)) == EVERYTHING
        assert lab.run() == frozenset()


class TestAudit:
    def test_so_many_are_judged_again(self, lab: Lab) -> None:
        assert len(lab.run(use=Use(audit=3))) == 3
        assert len(lab.run(use=Use(audit=99))) == len(EVERYTHING)

    def test_the_same_again_is_said(self, lab: Lab) -> None:
        kept, tasks = lab.kept(use=Use(audit=99)), lab.tasks()
        assert kept.take_over(tasks) == {}
        _, one = kept.keep(tasks[0], result(tasks[0])).judgements
        assert one.ok
        assert one.verdict.subject.property_id == AUDIT

    def test_a_difference_fails(self, lab: Lab) -> None:
        kept, tasks = lab.kept(use=Use(audit=99)), lab.tasks()
        kept.take_over(tasks)
        good = verdict(tasks[0])
        other = good.model_copy(
            update={"verdict": good.verdict.model_copy(update={"counts": {"distinct": 4}})}
        )
        _, one = kept.keep(tasks[0], result(tasks[0], other)).judgements
        assert not one.ok
        assert "'distinct': 3" in one.verdict.reason
        assert "'distinct': 4" in one.verdict.reason


def test_the_code_of_the_gate_counts(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    """It hands the entries to the judges; no judge imports it."""
    digest_of = Sources.digest_of

    def changed(sources: Sources, path: Path) -> str:
        return "changed" if path.name == "judging.py" else digest_of(sources, path)

    monkeypatch.setattr(Sources, "digest_of", changed)
    assert lab.run() == EVERYTHING


def test_the_strength_of_claims_hangs_on_wrong_protocols(lab: Lab) -> None:
    lab.data["strength"] = [{"name": "strong", "instances": ["small"], "expect": {"every": "holds"}}]
    (task,) = [one for one in lab.tasks() if one.name == "strength/strong"]
    entries = key_module._subject(task)["entries"]
    assert {one["name"] for one in entries} == {"strong", "small", "large", "hasty", "stuck"}


def test_the_sources_of_a_stopped_run_are_those_of_the_next(tmp_path, monkeypatch):
    """Texts, names and manifests, and the seed."""
    code, table = tmp_path / "code.py", tmp_path / "manifest.toml"
    code.write_text("X = 1")
    table.write_text("x = 1")
    monkeypatch.setattr(resume, "ROOT", tmp_path)
    monkeypatch.setattr(
        resume, "files", lambda suffixes: [p for p in sorted(tmp_path.iterdir()) if p.suffix in suffixes]
    )
    found = [resume.fingerprint(seed=0)]
    assert resume.fingerprint(seed=0) == found[0]
    found.append(resume.fingerprint(seed=1))
    table.write_text("x = 2")
    found.append(resume.fingerprint(seed=0))
    code.rename(tmp_path / "codes.py")
    found.append(resume.fingerprint(seed=0))
    (tmp_path / "codes.py").write_text("X = 2")
    found.append(resume.fingerprint(seed=0))
    assert len(set(found)) == len(found)


def test_who_provides_a_module_is_read_as_the_library_reads_it() -> None:
    ours, slow = toolchain._providers(), metadata.packages_distributions()
    seen = {name: sorted(set(ours.get(name, ()))) for name in slow}
    assert seen == {name: sorted(set(found)) for name, found in slow.items()}
