"""The bundle of a refuted verdict: the counterexample in every form, in one folder.

``verdict.txt`` (one line), ``trace.txt`` (changed fields), ``trace.itf.json``, ``sequence.mmd`` (Mermaid),
``reproduce.py`` and ``replay.txt`` (the command).
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Collection, Sequence
from pathlib import Path

from tidemark.checks.report.forms.diagram import mermaid
from tidemark.checks.report.forms.itf import to_itf
from tidemark.checks.report.forms.reproducer import reproducer
from tidemark.checks.report.forms.trace_text import trace_text
from tidemark.checks.verdicts.verdict import Aspect, Outcome, Subject, Verdict

FOLDER = "counterexamples"
_MARKER = "verdict.txt"
"""The file that every bundle has."""


def bundle_id(verdict: Verdict) -> str:
    """A folder name that is the same in every run."""
    subject = verdict.subject
    text = f"{subject.judge}-{subject.instance}-{subject.property_id}"
    return re.sub(r"[^A-Za-z0-9._-]+", "-", text).strip("-")


def headline(verdict: Verdict) -> str:
    """The verdict in one line."""
    subject = verdict.subject
    within = f" within {verdict.bounds}" if verdict.bounds else ""
    if subject.aspect is Aspect.MUTANT and verdict.outcome is Outcome.HOLDS:
        return _survivor(subject) + within
    reason = f": {verdict.reason}" if verdict.reason else ""
    who = f"by {subject.judge} on {subject.instance}"
    return f"{subject.property_id} is {verdict.outcome.value} {who}{within}{reason}"


def _survivor(subject: Subject) -> str:
    """A generated mutant is the property of its verdict; a named one is the entry, and its killer the
    property.
    """
    if "/" in subject.property_id:
        return f"mutant {subject.property_id} survived on {subject.instance}"
    return f"mutant {subject.instance} survived: {subject.property_id} does not refute it"


def remove_others(present: Collection[str], *, build: Path) -> None:
    """Remove the bundles of earlier runs: what is no longer refuted must not look as if it were."""
    for marker in (build / FOLDER).glob(f"*/{_MARKER}"):
        if marker.parent.name not in present:
            shutil.rmtree(marker.parent)


def write_bundle(verdict: Verdict, *, build: Path, sources: Sequence[str] = ()) -> Path | None:
    """Write the bundle below ``build`` and return its folder; None if the verdict has no counterexample.

    ``sources``: lines that say where the property comes from.
    """
    trace = verdict.counterexample
    if trace is None:
        return None
    folder = build / FOLDER / bundle_id(verdict)
    folder.mkdir(parents=True, exist_ok=True)
    title = headline(verdict)
    program = reproducer(
        trace,
        title=title,
        name=verdict.subject.instance,
        property_id=verdict.subject.property_id,
        file=folder.absolute() / "reproduce.py",
        replay=verdict.replay,
    )
    files = {
        _MARKER: title + "\n",
        "trace.txt": trace_text(trace, limit=10_000, sources=sources) + "\n",
        "trace.itf.json": to_itf(trace, description=title),
        "sequence.mmd": mermaid(trace),
        "replay.txt": verdict.replay + "\n",
    }
    if program is not None:
        files["reproduce.py"] = program
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
    return folder
