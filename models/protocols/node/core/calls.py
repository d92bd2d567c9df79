"""Remote calls within one process: who hears what and when, and what goes on although nobody waits for it.

The handlers take as long, and end, as scripts say. What the caller hears follows from that and its deadline.
"""

from __future__ import annotations

import asyncio
from collections.abc import Hashable
from typing import Any, cast

from tidemark.impl.datacoord.coordinator import Coordinator
from tidemark.impl.datacoord.direct import DirectCoordinatorClient
from tidemark.impl.datanode.data_node import DataNode
from tidemark.impl.datanode.direct import DirectNodeClient
from tidemark.impl.errors import (
    NoTimestampError,
    NotLeaderError,
    RpcError,
    RpcTimeoutError,
    StoreError,
    UnknownChannelError,
)
from tidemark.impl.rpc import Calls
from tidemark.impl.timestamp import Batch
from tidemark.impl.tso.direct import DirectOracle
from tidemark.impl.tso.server import OracleServer
from tidemark.impl.types import Owner
from tidemark.models.protocols.common.compared import ComparedProgram
from tidemark.models.protocols.common.scripted import Script
from tidemark.models.simulation.world.process import Process

ARRIVES = "a_call_arrives_with_its_arguments"
"""Claim id: each call is carried out once, with the arguments of the caller."""
HEARS = "a_caller_hears_the_answer_or_why_there_is_none"
"""Claim id: the answer when it is there; RpcTimeoutError at the deadline; RpcError for what a store, a node
or an oracle may refuse; any other error as it is."""
GOES_ON = "a_call_goes_on_when_its_caller_has_left"
"""Claim id: a call ends by itself, whoever waits for it, and is kept until then and no longer."""

_ERRORS: dict[str, BaseException] = {
    "store": StoreError("full"),
    "unknown": UnknownChannelError("c"),
    "bug": KeyError("bug"),
    "no leader": NotLeaderError("b leads"),
    "no timestamp": NoTimestampError("none"),
    "cancelled": asyncio.CancelledError(),
}
_OWNER = Owner("n", 3)
_CALLS: dict[str, tuple[Any, ...]] = {
    "save_binlog_paths": ("request",),
    "update_channel_checkpoints": ("positions",),
    "recover_channel": ("c", "n", 4),
    "drop_channel": ("c", _OWNER),
    "flush_channel": ("c", 7),
    "seal_segments": ("c", (1, 2), 9),
    "alloc": (5,),
}
"""The arguments of each call."""
_ANSWERED = ("save_binlog_paths", "recover_channel", "seal_segments", "alloc")
_NODE, _ORACLE = ("flush_channel", "seal_segments"), ("alloc",)

SCRIPTS: tuple[Script, ...] = (
    *({"call": name, "seconds": 2, "deadline": 5} for name in _CALLS if name != "flush_channel"),
    *({"call": name, "seconds": 2, "deadline": 1} for name in _CALLS if name not in (*_ORACLE, *_NODE)),
    *({"call": "seal_segments", "seconds": 2, "deadline": 5, "ends": end} for end in ("unknown", "bug")),
    *({"call": "flush_channel", "seconds": 0, "deadline": 5, "ends": end} for end in ("", "unknown", "bug")),
    *(
        {"call": "drop_channel", "seconds": 2, "deadline": 5, "ends": end}
        for end in ("store", "bug", "cancelled")
    ),
    *({"call": "alloc", "seconds": 0, "ends": end} for end in ("no leader", "no timestamp", "bug")),
    {"call": "drop_channel", "seconds": 3, "deadline": 1, "ends": "bug"},
    {"call": "seal_segments", "seconds": 3, "deadline": 5, "leaves": 1},
)


class _Callee:
    """Stands for coordinator, node and oracle: notes each call, and ends it as the script says."""

    def __init__(self, script: Script) -> None:
        self._script = script
        self.begun: list[tuple[Any, ...]] = []
        self.ended = 0

    def __getattr__(self, name: str) -> Any:
        if name not in (*_CALLS, "allocate"):
            raise AttributeError(name)
        return self._at_once if name == "flush_channel" else self._later(name)

    def _at_once(self, *given: Any) -> None:
        self.begun.append(given)
        self._end()

    def _later(self, name: str) -> Any:
        async def handle(*given: Any, **named: Any) -> Any:
            self.begun.append((*given, *named.values()))
            await asyncio.sleep(self._script["seconds"])
            self._end()
            if name == "allocate":
                return Batch(1, 5)
            return f"answer of {name}" if name in _ANSWERED else None

        return handle

    def _end(self) -> None:
        self.ended += 1
        if self._script.get("ends"):
            raise _ERRORS[self._script["ends"]]


class CallsProgram(ComparedProgram):
    """One caller, and one call."""

    async def live(self, process: Process) -> None:
        """Call, hear, and look again when everything must have ended."""
        self._heard: tuple[Hashable, ...] = ()
        self._callee = _Callee(self.script)
        client = self._client()
        begun = process.now()
        self.begun = True
        caller = asyncio.get_running_loop().create_task(self._call(client), name="caller")
        if "leaves" in self.script:
            await asyncio.sleep(self.script["leaves"])
            caller.cancel()
        await asyncio.wait([caller])
        self._heard = (process.now() - begun, *self._outcome(caller))
        self.compare(ARRIVES, "what has arrived", self._callee.begun, [_CALLS[self.script["call"]]])
        self.compare(HEARS, "the caller", self._heard, self._due())
        await self.halt_if_wrong()
        lasts = self.script["seconds"] > self._heard[0]
        self._compare_kept(client, ended=0 if lasts else 1)
        await asyncio.sleep(6)
        self._compare_kept(client, ended=1)
        self.compare(ARRIVES, "what has arrived in all", self._callee.begun, [_CALLS[self.script["call"]]])

    def _client(self) -> Any:
        name = self.script["call"]
        if name in _ORACLE:
            return DirectOracle(cast("OracleServer", self._callee))
        client: Any = (
            DirectNodeClient(cast("DataNode", self._callee))
            if name in _NODE
            else DirectCoordinatorClient(cast("Coordinator", self._callee))
        )
        client._calls = Calls()  # noqa: SLF001
        return client

    async def _call(self, client: Any) -> Any:
        name = self.script["call"]
        arguments = _CALLS[name]
        if name in _ORACLE:
            return await client.alloc(*arguments)
        if name == "seal_segments":
            channel, segments, expires = arguments
            return await client.seal_segments(
                channel, segments, expires=expires, deadline=self.script["deadline"]
            )
        return await getattr(client, name)(*arguments, deadline=self.script["deadline"])

    @staticmethod
    def _outcome(caller: asyncio.Task[Any]) -> tuple[Hashable, ...]:
        if caller.cancelled():
            return ("cancelled",)
        failure = caller.exception()
        return ("answer", caller.result()) if failure is None else (type(failure).__name__,)

    def _due(self) -> tuple[Hashable, ...]:
        """When the caller hears what."""
        name, seconds = self.script["call"], self.script["seconds"]
        deadline, ends = self.script.get("deadline", 99), self.script.get("ends", "")
        if "leaves" in self.script:
            return (self.script["leaves"], "cancelled")
        if deadline < seconds:
            return (deadline, RpcTimeoutError.__name__)
        if ends in ("store", "unknown", "no leader", "no timestamp"):
            return (seconds, RpcError.__name__)
        if ends:
            return (seconds, "cancelled" if ends == "cancelled" else type(_ERRORS[ends]).__name__)
        answer = 5 if name in _ORACLE else f"answer of {name}" if name in _ANSWERED else None
        return (seconds, "answer", answer)

    def _compare_kept(self, client: Any, *, ended: int) -> None:
        self.compare(GOES_ON, "calls that have ended", self._callee.ended, ended)
        if self.script["call"] not in _ORACLE:
            kept = len(client._calls.running)  # noqa: SLF001
            self.compare(GOES_ON, "calls that are kept", kept, 1 - ended)

    def look(self) -> Hashable:
        """What was heard, and when."""
        return (self._heard, self._callee.ended)

    def wrong_at_the_end(self) -> str | None:
        """The caller has heard something."""
        return None if self._heard else f"{HEARS}: the caller waits for ever"


def calls() -> CallsProgram:
    """Return the program of all scripts."""
    return CallsProgram(SCRIPTS, timers=20)
