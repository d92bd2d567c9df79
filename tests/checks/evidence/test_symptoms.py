"""Lines that people report get a diagnosis; sound evidence gets none."""

from pathlib import Path

import pytest

from tests.checks.evidence import parts
from tidemark.checks.cli import app
from tidemark.checks.evidence.symptoms import SYMPTOMS, Diagnosis, Symptom, diagnoses
from tidemark.models.findings.model import all_findings

HOUR = 3_600_000
EVENTS = {
    "checkpoint-behind": [parts.stored(2 * HOUR, parts.ts(HOUR - 1))],
    "seek-behind": [parts.begun(HOUR, parts.ts(1))],
    "session-refused": [
        parts.line(
            1, "rootcoord/root_coord.go:1", "failed to updateTimeTick", error="skip un-recognized session 7"
        )
    ],
    "tick-back": [
        parts.line(
            1,
            "rootcoord/timeticksync.go:1",
            "timestamp go back",
            source__id=1,
            prev__ts=parts.ts(2),
            curr__ts=parts.ts(1),
        )
    ],
    "clock-ahead": [
        parts.line(
            2000,
            "tso/tso.go:1",
            "clock offset is huge, check network latency and clock skew",
            prev__physical=1,
            **{"prev-physical": parts.stamp(1), "now": parts.stamp(2000)},
        )
    ],
}
"""Lines of a kind that is a symptom."""


def found(text: str, folder: Path) -> list[Diagnosis]:
    (folder / "milvus.log").write_text(text + "\n", encoding="utf-8")
    return diagnoses(parts.read(folder).events)


@pytest.mark.parametrize("one", SYMPTOMS, ids=lambda one: one.name)
def test_each_of_its_forms_is_diagnosed(one: Symptom, tmp_path: Path) -> None:
    lines = [
        parts.line(ms, "a/b.go:1", message.decode(), "WARN", channelName="dml_0")
        for ms, message in enumerate(one.messages)
    ]
    lines += EVENTS.get(one.name, [])
    assert lines or one.words
    shown = {which.symptom.name: which for which in found("\n".join(lines), tmp_path)} if lines else {}
    assert shown.keys() == ({one.name} if lines else set())
    if lines:
        assert (shown[one.name].count, shown[one.name].place) == (len(lines), "milvus.log:1")
    for words in one.words:
        (only,) = found(f"MilvusException: (code=65535, message={words.upper()} [channel=a])", tmp_path)
        assert (only.symptom.name, only.count) == (one.name, 1)


def test_each_is_explained_by_a_finding() -> None:
    known = {finding.id for finding in all_findings()}
    assert {one.finding for one in SYMPTOMS} <= known


def test_what_keeps_up_is_no_symptom(tmp_path: Path) -> None:
    parts.sound(tmp_path)
    assert diagnoses(parts.read(tmp_path).events) == []
    log = [parts.stored(2 * HOUR, parts.ts(HOUR)), parts.begun(HOUR, parts.ts(HOUR - 600_000))]
    assert found("\n".join(log), tmp_path) == []


def test_it_is_said_and_is_no_verdict(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pasted = '["node is not matched with channel"] [channel=by-dev-rootcoord-dml_14v2] [sourceID=3655]\n'
    (tmp_path / "pasted.log").write_text(pasted, encoding="utf-8")
    status = app.run(["evidence", str(tmp_path / "pasted.log"), "--build", str(tmp_path / "build")])
    said = capsys.readouterr().out
    assert status == 3
    assert "not-owner: once, first at pasted.log:1\n" in said
    assert "explained by: tidemark show findings ownership-refused-save\n" in said
    assert "NOT JUDGED" in said
