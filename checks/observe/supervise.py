"""Runs one plan from start to end, in the place where the processes live. Started by ``launch``, not by hand.

usage: python -m tidemark.checks.observe.supervise PLAN.json

It lives as long as its standard input: when the process that started it is gone, it ends everything.
"""

from __future__ import annotations

import os
import shutil
import signal
import sys
import threading
from pathlib import Path
from types import FrameType

from tidemark.checks.observe.processes import Processes
from tidemark.checks.observe.scenarios import Plan
from tidemark.checks.observe.stage import Stage
from tidemark.checks.observe.steps import STEPS
from tidemark.checks.verdicts.errors import CheckError, MissingToolError
from tidemark.checks.verdicts.exit_codes import ExitCode


def run(plan: Plan, *, processes: Processes) -> ExitCode:
    """Do the steps of the scenario; what was collected is written down also when they fail."""
    stage = Stage(plan, processes=processes)
    failed: CheckError | None = None
    try:
        STEPS[plan.scenario.name](stage)
    except CheckError as error:
        failed = error
    except EOFError as error:
        failed = MissingToolError(str(error), remedy="look into the logs of the run")
    stage.write_record(error=failed)
    if failed is not None:
        print(f"error: {failed}", file=sys.stderr)
        return failed.exit_code
    return ExitCode.AS_EXPECTED


def main() -> int:
    """Run the plan that the argument names; the exit status is of ``checks.exit_codes``."""
    file = Path(sys.argv[1])
    plan = Plan.model_validate_json(file.read_text())
    with Processes() as processes:
        # Its holder ends the process: the end of the others' work must not come before the tidying up.
        ending = threading.RLock()

        def leave() -> None:
            ending.acquire()
            processes.end_all()
            # Who started us may be gone too, and cannot tidy up.
            shutil.rmtree(file.parent, ignore_errors=True)
            os._exit(ExitCode.STOPPED)

        def stopped(_number: int, _frame: FrameType | None) -> None:
            leave()

        def watch() -> None:
            sys.stdin.read()
            leave()

        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, stopped)
        threading.Thread(target=watch, daemon=True).start()
        status = run(plan, processes=processes)
        ending.acquire()
        return status


if __name__ == "__main__":
    sys.exit(main())
