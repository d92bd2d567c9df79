"""Mutants of what a streaming node has on its disk."""

from tidemark.models.mutation.patches import Host, Patch, patches
from tidemark.models.protocols.streaming.program.disk import DiskProgram

DISK, TORN, TWICE, FOREIGN = (
    Host(f"streaming-impl-disk{name}", DiskProgram) for name in ("", "-torn-crash", "-twice", "-foreign-body")
)
LINES = "storage/file_log.py:"
DURABLE = "acknowledged_appends_survive"

MUTANTS = patches(
    __name__,
    Patch(
        "log-is-not-forced",
        at=LINES + "FileLogWriter.append_line",
        old="await self._files.sync(",
        new='if b" [1,1," not in line:\n                    await self._files.sync(',
        killer=DURABLE,
        on=DISK,
        source="facts 11: durable when acknowledged",
        tier="full",
        says="The first append is acknowledged before it is forced to the disk, with the next one.",
    ),
    Patch(
        "records-go-on-within-a-transaction",
        at="streaming/recovery_storage.py:RecoveryStorage.needed",
        old="return self.observed if",
        new="return self.observed if True or",
        killer="stored_once_or_not_at_all",
        on=DISK,
        source="B28; facts 11: records within a transaction",
        tier="full",
        says="Records that were saved between begin and commit go on there, and never count the transaction.",
    ),
    Patch(
        "later-terms-are-not-forced",
        at=LINES + "FileLogWriter.append_line",
        old="await self._files.sync(",
        new='if self._file.stem != "terms" or b" [1, " in line:\n                    await self._files.sync(',
        killer=DURABLE,
        on=TWICE,
        source="facts 11: fencing by term",
        tier="full",
        says="A term that follows a crash is not forced to the disk: after the next crash it begins again.",
    ),
    Patch(
        "a-torn-line-is-left",
        at=LINES + "FileLogWriter._mend",
        old="end < len(found)",
        new="False",
        killer="what_is_found_is_whole",
        on=TORN,
        source="facts 11: recovery of the log, a torn line",
        tier="full",
        says="A term appends behind a line that is not whole, and no later term can read what they make.",
    ),
    Patch(
        "a-term-begins-over-what-it-cannot-read",
        at="storage/fenced_log.py:FencedLog.begin_term",
        old="await self._load()",
        new="""try:
                    await self._load()
                except CorruptDataError:
                    self.broken = False""",
        killer="what_is_no_message_is_refused",
        on=FOREIGN,
        source="facts 11: recovery of the log",
        says="A term finds a record that is no message, and begins without it.",
    ),
    Patch(
        "rows-are-stored-with-their-own-timestamps",
        at="streaming/assembly.py:Assembly._go_on",
        old="at(body, message.ts) for body in ",
        new="",
        killer="stored_with_the_timestamp_of_its_commit",
        on=DISK,
        source="facts 11: transactions",
        says="The flusher stores the rows and deletes of a transaction as their messages came.",
    ),
)
