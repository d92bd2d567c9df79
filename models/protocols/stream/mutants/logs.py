"""Slips in the broker's logs, for those who append, fence, and follow their files."""

from __future__ import annotations

from tidemark.models.mutation.patches import Patch

UNKNOWN = "B54: unknown"

SLIPS = (
    Patch(
        "a-disk-that-fails-refuses",
        at="broker/channel_log.py:ChannelLog._write",
        old="await self._writer.append_line(_line(entries))",
        new="""try:
            await self._writer.append_line(_line(entries))
        except Exception as failure:
            for append in taken:
                append.done.set_exception(RpcError(f"not written: {failure}"))
            return""",
        source=UNKNOWN,
        says="An append of which nobody knows whether it is in the file counts as refused.",
    ),
    Patch(
        "a-follower-begins-anew-at-each-look",
        at="broker/reader.py:FileEntryLog._read_on",
        old="file, self._offsets[channel]",
        new="file, 0",
        source="facts 5.1",
        says="Entries that were read are read again, and count as new.",
    ),
    Patch(
        "a-fence-tells-one-log-only",
        at="broker/broker.py:Broker.fence",
        old="self.logs.values()",
        new="[*self.logs.values()][:1]",
        source="hazard 11",
        says="The fence of a source is over when the first log refuses it.",
    ),
)
