"""Mutants of what lies under all rooms. Rules make the others."""

from __future__ import annotations

from tidemark.models.mutation.patches import Host, Patch, patches
from tidemark.models.protocols.node.core import calls, configs, lines, locks, tasks

CALLS = Host("core-impl-calls", calls.calls)
LINES = Host("core-impl-lines", lines.lines)

MUTANTS = patches(
    __name__,
    Patch(
        "a-drop-is-not-sent",
        at="datacoord/direct.py:DirectCoordinatorClient.drop_channel",
        old='await self._calls.call(handler, name="DropChannel", deadline=deadline)',
        new="handler.close()",
        killer=calls.ARRIVES,
        on=CALLS,
        source="seed 000",
        says="A caller hears that its channel is dropped, and nobody was asked.",
    ),
    Patch(
        "who-gives-up-stops-the-callee",
        at="rpc.py:Calls.call",
        old="asyncio.shield(task)",
        new="task",
        killer=calls.GOES_ON,
        on=CALLS,
        source="seed 000",
        says="A call whose caller has left ends half-way.",
    ),
    Patch(
        "a-failure-is-told-once",
        at="runtime.py:Supervisor.check",
        old="raise self.failure",
        new="told, self.failure = self.failure, None\n            raise told",
        killer=tasks.FIRST,
        on=Host("core-impl-tasks", tasks.tasks),
        source="seed 000",
        says="A failure that was raised once is forgotten.",
    ),
    Patch(
        "everybody-passes-a-point",
        at="stepped_lock.py:SteppedLock.holding",
        old="if waits:",
        new="if True:",
        killer=locks.POINTS,
        on=Host("core-impl-locks", locks.locks),
        source="facts 1",
        says="Who has not waited passes the point of those who have.",
    ),
    Patch(
        "requests-wait-for-each-other",
        at="system/line_server.py:LineServer._take_requests",
        old="task.add_done_callback(self._requests.discard)",
        new="task.add_done_callback(self._requests.discard)\n            await asyncio.wait([task])",
        killer=lines.ANSWERS,
        on=LINES,
        source="seed 002",
        says="A slow request holds back those behind it.",
    ),
    Patch(
        "a-server-that-stops-goes-on-taking",
        at="system/line_server.py:LineServer.stop",
        old="self._stopped = True",
        new="self._stopped = False",
        killer=lines.STOPS,
        on=LINES,
        source="seed 002",
        says="A request that arrives while a server stops is begun.",
    ),
    Patch(
        "an-interval-of-nothing-is-refused",
        at="proxy/config.py:ProxyConfig.__post_init__",
        old='("tick_interval_ts", 0)',
        new='("tick_interval_ts", 1)',
        killer=configs.TAKEN,
        on=Host("core-impl-configs", configs.configs),
        source="hazard 28",
        says="A proxy cannot be told to give each tick its own timestamp.",
    ),
)
