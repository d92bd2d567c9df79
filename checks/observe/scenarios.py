"""The scenarios by name, and the plan of one run: everything that the supervisor has to know."""

from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from tidemark.checks.verdicts.errors import BadInputError, known_names

FORMAT = 1
SHIPPED_LEASE = 30
"""Seconds that a session lives without its process, in the settings of the package."""


class Scenario(BaseModel):
    """One way to use a real server and to break it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    about: str
    broker: Literal["rocksmq", "kafka"] = "rocksmq"
    seconds: float = Field(gt=0)
    """How long the clients work, in each phase."""


class Plan(BaseModel):
    """One run of a scenario. ``folder`` gets what is left behind, ``scratch`` the server's data."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    scenario: Scenario
    seed: int = Field(ge=0)
    version: str
    lease: int = Field(ge=1)
    folder: Path
    scratch: Path
    server: Path
    python: Path
    apart: bool


SCENARIOS = {
    each.name: each
    for each in (
        Scenario(
            name="clean",
            about="writers, deleters, readers at every level, counts, flushes, definitions; nothing breaks",
            seconds=15,
        ),
        Scenario(
            name="crash",
            about="the same load; kill -9 of the server in the middle of it, and a start over what it left",
            seconds=10,
        ),
        Scenario(
            name="paused-proxy",
            about="a second proxy is stopped until its session has ended; a flush; the proxy continues; "
            "kill -9 of everything and a start",
            broker="kafka",
            seconds=4,
        ),
        Scenario(
            name="slow-disk",
            about="the load; then each flush of the disk takes longer; kill -9 meanwhile, and a start over "
            "what it left, still slow; then the disk is quick again",
            seconds=12,
        ),
        Scenario(
            name="session-delete",
            about="one process inserts, deletes and reads its own writes at level Session",
            seconds=5,
        ),
    )
}


def find_scenario(name: str) -> Scenario:
    """The scenario of that name; raise BadInputError if there is none."""
    if name not in SCENARIOS:
        judge = f"a file is judged by  tidemark evidence {name}" if Path(name).exists() else ""
        remedy = judge or known_names(name, SCENARIOS)
        raise BadInputError(f"there is no scenario {name!r}", remedy=remedy)
    return SCENARIOS[name]
