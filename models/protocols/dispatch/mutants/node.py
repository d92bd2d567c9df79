"""Mutants of the dispatchers of a node, and of the reader that takes their packs for whoever stores them."""

from tidemark.models.mutation.patches import Host, Patch, patches
from tidemark.models.protocols.dispatch.program.node import node

CANCEL = Host("dispatch-node-cancel", node)
DROP = Host("dispatch-node-drop", node)

NODE = "stream/node_dispatchers.py:NodeDispatchers."
NEXT = "broker/packs.py:PackReader.next_pack"

MUTANTS = patches(
    __name__,
    Patch(
        "the-pack-of-who-was-cancelled-is-lost",
        at=NEXT,
        old="return self.ready[channel]",
        new="return self.ready.pop(channel)",
        killer="a_pack_begins_where_the_last_one_was_stored",
        on=CANCEL,
        source="facts 5.2: packs once and in order",
        says="A pack is handed over once: who was cancelled before it was stored has taken it along.",
    ),
    Patch(
        "the-end-of-a-target-is-told-to-nobody",
        at=NODE + "deregister",
        old="physical(channel)",
        new="channel",
        killer="a_dropped_channel_is_let_go",
        on=DROP,
        source="facts 5.2: a target goes",
        says="The manager is looked for by the virtual channel: its dispatcher goes on, and waits for room.",
    ),
    Patch(
        "each-virtual-channel-is-read-by-itself",
        at=NODE + "register",
        old="physical(channel)",
        new="channel",
        killer="a_channel_has_one_manager",
        on=DROP,
        source="facts 5.2: one main dispatcher",
        says="A node reads the physical channel once for each virtual one.",
    ),
    Patch(
        "managers-are-not-stopped",
        at=NODE + "stop",
        old="await manager.stop()",
        new="pass",
        killer="a_node_that_has_stopped_does_nothing",
        on=Host("dispatch-node-stop", node),
        source="facts 5.2: targets come and go",
        says="A node that stops leaves its managers at work.",
    ),
    Patch(
        "a-slow-target-stops-the-node",
        at="stream/dispatchers.py:MainDispatcher.patience",
        old="self._config.tolerant_seconds if len(self.targets) > 1 else None",
        new="None",
        killer="dispatch.ticks_reach_who_takes_them",
        on=Host("dispatch-node-stuck", node),
        source="facts 5.2: maxTolerantLag",
        says="Who takes nothing is not split off: the other channels of the node get no tick.",
    ),
    Patch(
        "each-pack-is-a-stream-of-its-own",
        at=NEXT,
        old="if channel not in self.sources:",
        new="if self._dispatchers is not None:\n            self._dispatchers.deregister(channel)",
        killer="dispatch.packs_come_in_order",
        on=CANCEL,
        source="facts 5.2: positions",
        says="The reader lets its target go, and registers it again for each pack.",
    ),
)

SLIPS = (
    Patch(
        "a-late-message-is-left-out",
        at="broker/packs.py:_rows_to_store",
        old="messages.sort(key=lambda message: message.ts)",
        new="messages = sorted((m for m in messages if m.ts > pack.begin), key=lambda m: m.ts)",
        source="hazard 31: a message behind its tick",
        says="A message behind its tick is passed over without a word: the row is lost.",
    ),
)
