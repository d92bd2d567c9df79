"""Wrong adapters by hand: each breaks one claim of the programs of calls."""

from __future__ import annotations

from tidemark.models.mutation.patches import Edit, Host, Patch, patches
from tidemark.models.protocols.store.histories.programs import history

FOLDER_FAILS = Host("store-calls-folder-fails", history)
FOLDER = "storage/parquet_folder.py:ParquetFolder."
FENCED = "storage/fenced_log.py:FencedLog."
SYNC = "storage/files.py:SystemFiles.sync"
ETCD = "storage/etcd_oracle.py:EtcdOracleStore."
IN_ORDER = "calls_have_an_order"

MUTANTS = patches(
    __name__,
    Patch(
        "system-does-not-force",
        at=SYNC,
        old="await in_thread(None, lambda: self._force(path))",
        new="pass",
        killer=IN_ORDER,
        on=Host("store-calls-log-power", history),
        source="property D",
        says="A pack is answered before it is forced to the disk.",
    ),
    Patch(
        "descriptor-is-left-open",
        at=SYNC,
        old="self._force(path)",
        new="self._calls.fsync(self._calls.open(path, os.O_RDONLY))",
        killer="everything_is_closed",
        on=Host("store-calls-log-fails", history),
        source="property D",
        says="Each file that is forced leaves a descriptor open.",
    ),
    Patch(
        "connection-is-kept",
        at="storage/transactions.py:SqliteDatabase._close",
        old="self._connection = None",
        new="pass",
        killer="no_failure_without_a_fault",
        on=Host("store-calls-catalogue-fails", history),
        source="facts 2.2: saveTimestamp fails",
        says="After a failure all that follows fails too: the connection is not opened again.",
    ),
    Patch(
        "lost-log-goes-on",
        at=FENCED + "_check",
        old="if term != self.term:",
        new="self.broken = False\n        if term != self.term:",
        killer="no_answer_after_a_failure",
        on=Host("store-calls-fenced-log-fails", history),
        source="property D",
        says="A log whose last append has failed takes another one.",
    ),
    Patch(
        "reader-is-not-woken",
        at="storage/memory.py:MemoryLog.append",
        old="self._grown.notify_all()",
        new="pass",
        killer="every_call_ends",
        on=Host("store-calls-memory-log", history),
        source="property L",
        says="A reader of a log in memory waits for ever.",
    ),
    Patch(
        "a-disk-that-fails-has-no-files",
        at=FOLDER + "paths",
        old='raise StoreError(f"cannot list {below}: {failure}; check permissions") from failure',
        new="return ()",
        killer=IN_ORDER,
        on=FOLDER_FAILS,
        source="hazard 14",
        says="A folder that cannot be listed is taken for an empty one: records of its files are forgotten.",
    ),
    Patch(
        "a-failed-deletion-counts",
        at=FOLDER + "delete",
        old='raise StoreError(f"cannot delete {file}: {failure}; check permissions") from failure',
        new="pass",
        killer=IN_ORDER,
        on=FOLDER_FAILS,
        source="hazard 14",
        says="A file that could not be deleted counts as deleted.",
    ),
    Patch(
        "files-are-in-the-order-of-their-paths",
        at=FOLDER + "paths",
        old="sorted(self._path_of(file) for file in found)",
        new='sorted(map(self._path_of, found), key=lambda path: path.split("/"))',
        killer=IN_ORDER,
        on=FOLDER_FAILS,
        source="hazard 14",
        says="What is listed is sorted by the parts of the names, and not by the names.",
    ),
    Patch(
        "a-deletion-takes-what-begins-with-its-name",
        at=FOLDER + "delete",
        old="try:",
        new="""for other in await self.paths(path.rpartition("/")[0] or path):
            if other.startswith(path) and other != path:
                await self.delete(other)
        try:""",
        killer=IN_ORDER,
        on=Host("store-calls-folder-power", history),
        source="hazard 14",
        says="A file goes that nobody has named.",
    ),
    Patch(
        "who-leaves-an-append-leaves-no-line",
        at=FENCED + "append",
        old="await self._writer_of(record.place).append_line(line)",
        new="""try:
                await self._writer_of(record.place).append_line(line)
            except asyncio.CancelledError:
                self.broken = False
                raise""",
        killer="no_failure_without_a_fault",
        on=Host("store-calls-fenced-log-cancelled", history),
        source="property D, B54",
        says="A log whose append was cancelled goes on at the same place.",
    ),
    Patch(
        "bytes-are-in-another-order-than-numbers",
        at=ETCD + "load",
        old='"big"',
        new='"little"',
        also=(Edit(ETCD + "save", '"big"', '"little"'),),
        killer=IN_ORDER,
        on=Host("store-calls-etcd-fails", history),
        source="facts 2.4",
        says="The end of the window begins with its lowest byte, in etcd and back.",
    ),
)
