"""Mutants of the collector of garbage, of its readers and of the coordinator."""

from tidemark.models.mutation.patches import Host, Patch, patches
from tidemark.models.protocols.garbage.program import garbage

AGAIN = Host("garbage-impl-again", garbage)
CRASH = Host("garbage-impl-crash", garbage)
READERS = Host("garbage-impl-readers", garbage)
TWO_FILES = Host("garbage-impl-two-files", garbage)
COLLECTOR = "datacoord/garbage.py:GarbageCollector."
EARLIER = "found is not None and int(found[1]) < term"

MUTANTS = patches(
    __name__,
    Patch(
        "files-are-deleted-before-their-record",
        at=COLLECTOR + "has_passed",
        old=EARLIER,
        new="True",
        on=CRASH,
        source="facts 7.6, 10.2",
        says="A file that no record names is deleted, also while its save is under way.",
    ),
    Patch(
        "records-go-before-the-files",
        at=COLLECTOR + "collect",
        old="await self.delete_files(channel)\n            await self.forget(channel)",
        new="""record = self._coordinator.channel(channel)
            if record.collected:
                continue
            paths = await self._folder.paths(channel)
            if record.dropped:
                await self._coordinator.collect_channel(channel)
            for path in paths:
                if self.is_garbage(channel, path):
                    await self._folder.delete(path)""",
        on=CRASH,
        source="hazard 14; B30",
        says="The records go first, and the collector goes by them: after a crash the files stay for ever.",
    ),
    Patch(
        "the-folder-of-a-name-is-deleted",
        at=COLLECTOR + "delete_files",
        old="for path in",
        new="""if self._coordinator.channel(channel).dropped:
            await self._preemption.point("garbage.delete")
            for path in await self._folder.paths(channel):
                await self._folder.delete(path)
            return
        for path in""",
        on=AGAIN,
        source="hazard 14; B31",
        says="The folder of a dropped collection is deleted, with the files of the next one of its name.",
    ),
    Patch(
        "readers-are-not-waited-for",
        at=COLLECTOR + "is_garbage",
        old="if self._readers.reads(path):",
        new="if self._readers.reads(path) and not self._coordinator.channel(channel).dropped:",
        on=READERS,
        walked=Host("garbage-driven", garbage),
        source="facts 10.4",
        says="The files of a dropped collection are deleted under their readers.",
    ),
    Patch(
        "a-reader-has-what-it-was-given-last",
        at="datacoord/garbage.py:FileReaders.lend",
        old="(*self.given.get(reader, ()), *paths)",
        new="tuple(paths)",
        on=TWO_FILES,
        walked=Host("garbage-driven", garbage),
        source="facts 10.4",
        says="What a reader was given before is forgotten when it is given more, and deleted under it.",
    ),
    Patch(
        "a-recovery-drops-the-channel",
        at="datacoord/coordinator.py:Coordinator.recover_channel",
        old="last_owner=node_id, term=term, session=session",
        new="dropped=True",
        on=AGAIN,
        source="facts 7.9, 10.4; B30",
        says="The coordinator drops a channel that a node asks for: another step of the protocol.",
    ),
)

SLIPS = (
    Patch(
        "a-file-without-a-term-is-garbage",
        at=COLLECTOR + "has_passed",
        old=EARLIER,
        new="found is None or int(found[1]) < term",
        source="hazard 14",
        says="What a compaction writes carries no term, and is deleted before it is recorded.",
    ),
    Patch(
        "files-of-dropped-segments-are-garbage",
        at=COLLECTOR + "_named",
        old="self._coordinator.segments_of(channel)\n",
        new="self._coordinator.segments_of(channel)\n            if not record.dropped\n",
        source="facts 10.4",
        says="What is recorded of a segment that was dropped is deleted while its record names it.",
    ),
)
