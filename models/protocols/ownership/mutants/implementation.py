"""Mutants of the coordinator that hands channels to nodes."""

from tidemark.models.mutation.patches import Host, Patch, patches
from tidemark.models.protocols.ownership.program import ownership

MOVES = Host("ownership-impl-moves", ownership)
DROP = Host("ownership-impl-drop", ownership)

COORDINATOR = "datacoord/coordinator.py:Coordinator."

MUTANTS = patches(
    __name__,
    Patch(
        "a-save-counts-twice",
        at=f"{COORDINATOR}_with_rows",
        old="request.position.ts <= ",
        new="request.position.ts < ",
        killer="ownership.stored_once",
        on=MOVES,
        walked=Host("ownership-driven", ownership),
        source="hazard 46",
        says="A save that arrives again is recorded again.",
    ),
    Patch(
        "saves-of-any-tenure-are-taken",
        at=f"{COORDINATOR}_owner_may_write",
        old="record.assigned_to == owner.node_id and record.term == owner.term",
        new="True",
        on=MOVES,
        source="hazard 22; B27",
        says="A node that lost the channel may still save.",
    ),
    Patch(
        "a-late-drop-takes-the-next-channel",
        at=f"{COORDINATOR}drop_channel",
        old="if record.assigned_to != owner.node_id or record.term != owner.term:",
        new="if False:",
        killer="ownership.what_is_gone_has_no_checkpoint",
        on=DROP,
        source="hazard 14; facts 7.9",
        says="A request to drop is not compared with the present tenure.",
    ),
    Patch(
        "what-is-collected-keeps-its-checkpoint",
        at=f"{COORDINATOR}collect_channel",
        old="ChannelRecord(channel, ",
        new="ChannelRecord(channel, checkpoint=record.checkpoint, ",
        killer="ownership.what_is_gone_has_no_checkpoint",
        on=DROP,
        source="hazard 14",
        says="The checkpoint of a dropped channel outlives it.",
    ),
    Patch(
        "a-creation-collects-what-was-dropped",
        at=f"{COORDINATOR}create_channel",
        old="async with self.lock",
        new=(
            "if channel in self.channels:\n"
            "            await self.collect_channel(channel)\n"
            "        async with self.lock"
        ),
        on=DROP,
        source="hazard 14; facts 10.1",
        says="A creation that comes too early collects: a step of the protocol, of another event.",
    ),
)
