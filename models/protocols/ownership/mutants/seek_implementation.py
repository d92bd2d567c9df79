"""Mutants of the choice of the place from where a channel is read."""

from tidemark.models.mutation.patches import Host, Patch, patches
from tidemark.models.protocols.ownership.mutants.implementation import COORDINATOR
from tidemark.models.protocols.ownership.program.seek import seek

SEEK = Host("ownership-impl-seek", seek)
CHECKPOINT = Host("ownership-impl-seek-checkpoint", seek)
DROP = Host("ownership-impl-seek-drop", seek)

RECORDED = "ownership.the_position_is_one_that_is_recorded"
BUFFER = "datanode/write_buffer.py:WriteBuffer."

MUTANTS = patches(
    __name__,
    Patch(
        "the-greatest-position",
        at=f"{COORDINATOR}seek_position",
        old="min(positions",
        new="max(positions",
        killer="ownership.nothing_is_lost",
        on=SEEK,
        source="facts 10.4; B35",
        says="The greatest position of a segment is taken for the earliest.",
    ),
    Patch(
        "the-sentinel-is-a-position",
        at=f"{COORDINATOR}_living",
        old="if record.dropped:",
        new="if False:",
        on=DROP,
        source="hazard 14; facts 10.1, 10.4",
        says="The checkpoint of a dropped channel is given to a node as a position.",
    ),
    Patch(
        "a-segment-although-there-is-a-checkpoint",
        at=f"{COORDINATOR}seek_position",
        old="if record.checkpoint != NO_CHECKPOINT:",
        new="if False:",
        killer=RECORDED,
        on=CHECKPOINT,
        source="facts 10.4",
        says="A segment's position is taken although a checkpoint is stored.",
    ),
    Patch(
        "segments-do-not-count",
        at=f"{COORDINATOR}seek_position",
        old="[position.ts for position in known if position is not None]",
        new="[]",
        killer=RECORDED,
        on=SEEK,
        source="facts 10.4",
        says="Without a checkpoint the channel is read from the beginning, whatever its segments say.",
    ),
    Patch(
        "dropped-segments-count",
        at=f"{COORDINATOR}seek_position",
        old=" if not segment.dropped",
        new="",
        killer=RECORDED,
        on=CHECKPOINT,
        source="facts 10.4",
        says="The position of a segment that was dropped counts: more is read again than has to be.",
    ),
    Patch(
        "starts-are-not-noted",
        at=f"{COORDINATOR}_note_starts",
        old="sorted(request.starts, key=lambda told: told[1].ts)",
        new="()",
        on=SEEK,
        source="facts 10.2, 10.4",
        says="A save is recorded, and not where the other segments begin of which its node has read.",
    ),
    Patch(
        "the-latest-start-first",
        at=f"{COORDINATOR}_note_starts",
        old="told[1].ts",
        new="-told[1].ts",
        on=SEEK,
        source="facts 10.2, 10.4",
        says="Starts are noted from the latest to the earliest; none is left out.",
    ),
    Patch(
        "a-save-tells-of-its-own-segment",
        at=f"{BUFFER}_yield",
        old="tuple(self.starts.items())",
        new="tuple(told for told in self.starts.items() if told[0] == info.segment_id)",
        on=SEEK,
        source="facts 10.2, 10.4",
        says="A save tells where its own segment begins, and nothing of others.",
    ),
    Patch(
        "a-start-includes-its-row",
        at=f"{BUFFER}consume",
        old="pack.start",
        new="StartPosition(pack.end.ts)",
        on=SEEK,
        source="facts 7.1, 10.4",
        says="A segment is said to begin at its first row, not before it.",
    ),
    Patch(
        "a-save-tells-the-last-start",
        at=f"{BUFFER}consume",
        old="self.starts.setdefault(row.segment_id, start)",
        new="self.starts[row.segment_id] = start",
        on=SEEK,
        source="facts 10.2, 10.4",
        says="A save tells where the last pack of a segment begins: rows before it are never read.",
    ),
    Patch(
        "the-first-checkpoint-overwrites",
        at=f"{COORDINATOR}begin_checkpoint",
        old="record.checkpoint == NO_CHECKPOINT",
        new="True",
        killer="ownership.stored_never_goes_back",
        on=CHECKPOINT,
        source="facts 10.1, 10.4",
        says="The first checkpoint is stored although a node has reported one.",
    ),
)
