"""The journal of a run: what was judged so far, so that a stopped run can go on.

One line for each task, added when it is judged: a run that is stopped or killed keeps its results, and a line
costs the same whether it is the first or the thousandth. A run goes on only if the sources are exactly those
that it judged.
"""

import hashlib
import json
from collections.abc import Iterable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import IO, Any

from tidemark.checks.gate.settings import Settings
from tidemark.checks.verdicts.commands import PARTIAL
from tidemark.checks.verdicts.errors import BadInputError
from tidemark.checks.verdicts.result import TaskResult
from tidemark.models.rooms import ROOT, files

SUFFIXES = frozenset({".py", ".toml"})


def fingerprint(*, seed: int) -> str:
    """Hash of every source and manifest, and of the seed; where a search runs does not matter."""
    digest = hashlib.sha256(f"seed {seed}\n".encode())
    for path in files(suffixes=SUFFIXES):
        digest.update(f"{path.relative_to(ROOT).as_posix()}\n".encode())
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()


FORMAT = 2


class Journal(AbstractContextManager["Journal"]):
    """The file to which results are added; ``known`` results are in it from the start."""

    def __init__(self, settings: Settings, known: Iterable[TaskResult] = ()) -> None:
        path = settings.build / PARTIAL
        head = {"format": FORMAT, "fingerprint": fingerprint(seed=settings.seed)}
        fresh = path.with_name(path.name + ".new")
        lines = [json.dumps(head), *(result.model_dump_json() for result in known)]
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            fresh.write_text("\n".join(lines) + "\n", encoding="utf-8")
            fresh.replace(path)
            self._file: IO[str] = path.open("a", encoding="utf-8")
        except OSError as error:
            raise BadInputError(
                f"the build folder {settings.build.as_posix()!r} cannot be written: {error.strerror}",
                remedy="name another one with --build",
            ) from error

    def add(self, result: TaskResult) -> None:
        """Keep a result. It is on its way to the disk when this returns."""
        self._file.write(result.model_dump_json() + "\n")
        self._file.flush()

    def __exit__(self, *_: object) -> None:
        self._file.close()


def earlier_results(settings: Settings) -> dict[str, TaskResult]:
    """What a stopped run has judged, by task. What it could not judge is left out: it is tried again.

    Raises BadInputError if there is none, if it is damaged, or if sources or settings changed since.
    """
    path = settings.build / PARTIAL
    again = "run  tidemark verify  without --resume"
    try:
        saved, results = _read(path)
    except FileNotFoundError as error:
        raise BadInputError(
            f"there is no stopped run to continue ({path.as_posix()})", remedy=again
        ) from error
    except (ValueError, KeyError, TypeError) as error:
        raise BadInputError(f"{path.as_posix()} is damaged: {error}", remedy=again) from error
    if saved != fingerprint(seed=settings.seed):
        raise BadInputError("sources or settings have changed since the run was stopped", remedy=again)
    return {result.task: result for result in results if result.judgements}


def _read(path: Path) -> tuple[str, list[TaskResult]]:
    """The fingerprint and the results. A last line without its end was cut off by a kill and is no result."""
    lines = path.read_text(encoding="utf-8").split("\n")[:-1]
    if not lines:
        raise ValueError("its first line is missing")
    head: dict[str, Any] = json.loads(lines[0])
    if head["format"] != FORMAT:
        raise ValueError(f"its format is {head['format']!r}, not {FORMAT}")
    saved: str = head["fingerprint"]
    return saved, [TaskResult.model_validate_json(line) for line in lines[1:]]
