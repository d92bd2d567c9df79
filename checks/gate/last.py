"""The failures of the last run: the next run of the same check replays them before it searches.

A change that does not repair a failure is then known within a second. The verdict does not depend on it: the
check is judged as if nothing were known.
"""

import json
import shlex
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from tidemark.checks.verdicts.errors import CheckError
from tidemark.checks.verdicts.plan import Task
from tidemark.checks.verdicts.result import RunResult
from tidemark.checks.verdicts.verdict import Outcome
from tidemark.models.manifest import Manifest

FILE = "last-failures.json"
"""In the build folder."""
_MOST = 5
"""Failures that are replayed: it is a hint, and takes time."""


class LastFailure(NamedTuple):
    """A refuted claim with the token of its run."""

    task: str
    claim: str
    token: str


def last_failures(build: Path) -> list[LastFailure]:
    """What the last runs have left; nothing if the file is not there, or damaged."""
    try:
        found = json.loads((build / FILE).read_text(encoding="utf-8"))
        return [LastFailure(*map(str, item)) for item in found]
    except (OSError, ValueError, TypeError):
        return []


def keep_failures(build: Path, result: RunResult) -> None:
    """Note the failures of a run; those of checks that it did not judge stay. No file if there are none."""
    judged = {f"{one.verdict.subject.judge}/{one.verdict.subject.instance}" for one in result.judgements}
    kept = [one for one in last_failures(build) if one.task not in judged]
    for one in result.failures:
        subject, token = one.verdict.subject, _token(one.replay)
        if one.verdict.outcome is Outcome.REFUTED and token:
            kept.append(LastFailure(f"{subject.judge}/{subject.instance}", subject.property_id, token))
    path = build / FILE
    with suppress(OSError):  # it is only a hint
        if kept:
            path.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")
        else:
            path.unlink(missing_ok=True)


def _token(command: str) -> str:
    words = shlex.split(command)
    return words[2] if words[:2] == ["tidemark", "replay"] and len(words) > 2 else ""


def replayed(build: Path, tasks: Sequence[Task]) -> Iterator[str]:
    """A line for each of the last failures of these checks: is it still there?"""
    names = {task.name for task in tasks}
    manifests = list({task.manifest.name: task.manifest for task in tasks}.values())
    known = [one for one in last_failures(build) if one.task in names]
    for one in known[:_MOST]:
        try:
            still, steps = _again(one, manifests)
        except CheckError as error:
            yield f"last failure of {one.task}: {one.claim} cannot be replayed: {error.message}"
            continue
        word = f"is still refuted, in {steps} steps" if still else "is no longer refuted by this run"
        yield f"last failure of {one.task}: {one.claim} {word}"


def _again(one: LastFailure, manifests: Sequence[Manifest]) -> tuple[bool, int]:
    from tidemark.checks.explore.replay import is_run_token, parse_token, replay

    if is_run_token(one.token):
        shown, still = replay(parse_token(one.token), manifests)
        return still, len(shown.steps)
    from tidemark.checks.interleave.again import replay_token

    found = replay_token(one.token, manifests)
    still = found.violation is not None and found.violation.claim == one.claim
    return still, len(found.shown.steps)
