"""Runs one plan from start to end, in the place where the processes live. Started by ``launch``, not by hand.

usage: python -m tidemark.checks.observe.supervise PLAN.json

It lives as long as its standard input: when the process that started it is gone, it ends everything.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

from tidemark.checks.observe.package import MESSAGES
from tidemark.checks.observe.processes import Processes
from tidemark.checks.observe.scenarios import Plan
from tidemark.checks.observe.server import Server
from tidemark.checks.observe.stage import Clients, Stage
from tidemark.checks.verdicts.errors import CheckError, MissingToolError
from tidemark.checks.verdicts.exit_codes import ExitCode

_READ_SECONDS = 120.0


def collect(stage: Stage, servers: Sequence[Server]) -> None:
    """Read the store, end the server (RocksMQ cannot be read beside it), read the broker."""
    folder = stage.plan.folder
    stage.say("reading the store's history from revision 1")
    stage.collected["etcd"] = stage.store.write_history(folder / "etcd.ndjson")
    out = folder / "broker.ndjson"
    if stage.kafka is not None:
        source = ["kafka", stage.kafka, str(out)]
    else:
        stage.kill(*servers)
        source = ["rocksmq", str(servers[0].data / "rocksmq"), str(out)]
    stage.say("reading the broker's messages")
    command = stage.package.inside(MESSAGES, *source)
    done = subprocess.run(command, capture_output=True, text=True, timeout=_READ_SECONDS, check=False)
    if done.returncode != 0:
        raise MissingToolError(
            f"the broker cannot be read: {done.stderr.strip()[-300:]}",
            remedy="run the scenario again; if it stays, this version keeps its messages in another form",
        )
    found: dict[str, int] = json.loads(done.stdout)
    if not found["messages"]:
        raise MissingToolError("the broker holds no message", remedy="look into the log of the server")
    stage.collected["broker"] = found
    stage.facts["late_messages"] = stage.collected["broker"].pop("late")
    stage.say(
        f"{stage.collected['etcd']['events']} events of the store, "
        f"{stage.collected['broker']['messages']} messages"
    )


_SETTLE_SECONDS = 5.0
_SESSION_ROUNDS = 60
_LATE_WRITERS = 12
_LATE_BATCH = 50
_SLOW_MILLISECONDS = (30, 200)
"""A flush of a busy network disk takes that long; the store's own warnings begin at 100 ms."""


def _load() -> tuple[dict[str, dict[str, Any]], dict[str, dict[str, Any]]]:
    """The clients of two processes: writers with counts and flushes, and readers at every level."""
    first: dict[str, dict[str, Any]] = {
        "w0": {"role": "writer", "pause": 0.05},
        "w1": {"role": "writer", "pause": 0.05},
        "counter": {"role": "counter", "pause": 0.3},
        "flusher": {"role": "flusher", "pause": 4.0},
        "definer": {"role": "definer", "pause": 2.0},
    }
    second = {
        f"r-{level.lower()}": {"role": "reader", "level": level, "pause": 0.1}
        for level in ("Strong", "Session", "Bounded", "Eventually")
    }
    return first, second


@contextmanager
def _loaded(stage: Stage, server: Server) -> Iterator[Clients]:
    """The load at work, by the process of its writers; what is there afterwards is counted and collected."""
    stage.start(server)
    writers, readers = _load()
    first = stage.clients("p0", server, writers)
    first.create()
    second = stage.clients("p1", server, readers)
    first.start()
    second.start()
    yield first
    second.stop()
    first.stop()
    stage.facts["rows"] = len(first.read())
    first.count()
    collect(stage, [server])


def clean(stage: Stage) -> None:
    """The load, and nothing else."""
    with _loaded(stage, stage.server()):
        stage.sleep(stage.plan.scenario.seconds, "the clients work")


def crash(stage: Stage) -> None:
    """The load; kill -9 at a moment that the seed draws; a start; the load again."""
    server, seconds = stage.server(), stage.plan.scenario.seconds
    with _loaded(stage, server) as clients:
        stage.sleep(seconds * stage.random.uniform(0.5, 1.0), "the clients work")
        stage.kill(server)
        stage.start(server)
        clients.load()
        stage.sleep(seconds / 2, "the clients work again")


def paused_proxy(stage: Stage) -> None:
    """A proxy is paused past its lease with inserts between timestamp and broker; flush; resume; crash."""
    stage.broker()
    server = stage.server()
    stage.start(server)
    proxy = stage.server("proxy")
    stage.start(proxy)
    stage.wait_session("proxy", count=2)
    reader = stage.clients("p0", server)
    reader.create()
    writer = {"role": "writer", "batch": _LATE_BATCH, "exact": True, "pause": 0.0, "delete_share": 0.0,
              "session_share": 0.0}  # fmt: skip
    writers = stage.clients("p1", proxy, {f"w{number}": writer for number in range(_LATE_WRITERS)})
    writers.start()
    stage.sleep(
        stage.plan.scenario.seconds * stage.random.uniform(0.75, 1.25), f"{_LATE_WRITERS} clients write"
    )
    stage.pause(proxy)
    stage.say(f"waiting until the session has ended (lease {stage.plan.lease} s)")
    stage.wait_session("proxy", count=1)
    stage.note("session of the paused proxy ended")
    stage.sleep(2, "ticks go on without it")
    stage.note("flush", ok=reader.flush())
    before = reader.read()
    writers.stop_later()
    stage.resume(proxy)
    stage.sleep(_SETTLE_SECONDS, "late messages arrive")
    after = reader.read()
    stage.facts["rows_after_resumption"] = len(after - before)
    stage.note("strong reads around the resumption", before=len(before), after=len(after))
    stage.kill(proxy, server)
    writers.stopped()
    stage.start(server)
    reader.load()
    final = reader.read()
    reader.count()
    stage.facts["lost_rows"] = len(after - final)
    stage.facts["rows"] = len(final)
    stage.note("strong read after the crash", rows=len(final), lost=len(after - final))
    collect(stage, [server])


def slow_disk(stage: Stage) -> None:
    """The load; the disk becomes slow by what the seed draws; kill -9, a start; the disk recovers."""
    server, seconds = stage.server(slowable=True), stage.plan.scenario.seconds / 3
    with _loaded(stage, server) as clients:
        stage.sleep(seconds, "the clients work")
        stage.slow_disk(server, stage.random.randint(*_SLOW_MILLISECONDS))
        stage.sleep(seconds * stage.random.uniform(1.0, 2.0), "the clients work on a slow disk")
        stage.kill(server)
        delayed = server.flushes_delayed()
        stage.start(server)
        clients.load()
        stage.sleep(seconds, "the clients work again, still on a slow disk")
        delayed += server.flushes_delayed()
        stage.slow_disk(server, 0)
        if not delayed:
            raise MissingToolError(
                "no flush was made to wait: the server does not flush, or by a call that is not known here",
                remedy="trace it:  strace -f -e trace=fsync,fdatasync",
            )
    stage.facts["delayed_flushes"] = delayed


def session_delete(stage: Stage) -> None:
    """Session reads after inserts and after deletes in one process."""
    server = stage.server()
    stage.start(server)
    role = {"role": "session-deleter", "rounds": _SESSION_ROUNDS, "pause": 0.0}
    client = stage.clients("p0", server, {"s0": role})
    client.create()
    client.start()
    stage.say(f"{_SESSION_ROUNDS} rounds of insert, read, delete, read")
    client.wait()
    stage.facts["rounds"] = _SESSION_ROUNDS
    stage.facts["rows"] = len(client.read())
    collect(stage, [server])


STEPS: dict[str, Callable[[Stage], None]] = {
    "clean": clean,
    "crash": crash,
    "paused-proxy": paused_proxy,
    "slow-disk": slow_disk,
    "session-delete": session_delete,
}


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
