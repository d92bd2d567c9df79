"""Going on with a stopped run: only if the sources are exactly those that it judged."""

from __future__ import annotations

import json

from tidemark.checks.gate.fingerprint import fingerprint
from tidemark.checks.gate.run import Settings
from tidemark.checks.report.files import PARTIAL, read_result
from tidemark.checks.verdicts.errors import BadInputError
from tidemark.checks.verdicts.result import RunResult


def earlier_result(settings: Settings) -> RunResult:
    """The saved part of a stopped run.

    Raises BadInputError if there is none, if it is damaged, or if sources or settings changed since.
    """
    path = settings.build / PARTIAL
    again = "run  tidemark verify  without --resume"
    try:
        saved = json.loads(path.read_text(encoding="utf-8"))["fingerprint"]
        result = read_result(path)
    except FileNotFoundError as error:
        raise BadInputError(
            f"there is no stopped run to go on with ({path.as_posix()})", remedy=again
        ) from error
    except (ValueError, KeyError, TypeError) as error:
        raise BadInputError(f"{path.as_posix()} is damaged: {error}", remedy=again) from error
    if saved != fingerprint(seed=settings.seed):
        raise BadInputError("sources or settings have changed since the run was stopped", remedy=again)
    return result
