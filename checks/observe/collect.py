"""Takes what a run leaves behind: the store's history and the broker's messages. The rest is there."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Sequence

from tidemark.checks.observe.package import MESSAGES
from tidemark.checks.observe.server import Server
from tidemark.checks.observe.stage import Stage
from tidemark.checks.verdicts.errors import MissingToolError

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
    stage.collected["broker"] = _read(stage, source)
    stage.facts["late_messages"] = stage.collected["broker"].pop("late")
    stage.say(
        f"{stage.collected['etcd']['events']} events of the store, "
        f"{stage.collected['broker']['messages']} messages"
    )


def _read(stage: Stage, source: Sequence[str]) -> dict[str, int]:
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
    return found
