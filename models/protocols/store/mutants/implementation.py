"""Wrong adapters, each with one rule of a store left out, and who must find it."""

from tidemark.models.mutation.patches import Edit, Host, Patch, patches
from tidemark.models.protocols.store import program

OBJECTS = Host("store-objects-parquet", program.objects)
LOG = Host("store-file-log", program.log)
WALKED_LOG = Host("store-driven-log", program.log)
WALKED_WINDOW = Host("store-driven-window", program.window)
LOG_FAULTS = Host("store-file-log-faults", program.log)
METADATA = Host("store-sqlite-metadata", program.metadata)
WINDOW = Host("store-sqlite-window", program.window)
LAPSE = Host("store-sqlite-window-lapse", program.window)
ETCD = Host("store-etcd-window", program.etcd_window)

PUT = "storage/parquet_store.py:ParquetStore.put"
WRITER = "storage/file_log.py:FileLogWriter."
READ_LINES = "storage/file_log.py:read_lines"
SQLITE = "storage/sqlite_oracle.py:SqliteOracleStore."
ETCD_STORE = "storage/etcd_oracle.py:EtcdOracleStore."

DURABLE = "store.what_was_answered_is_durable"
ARE_WHOLE = "contents_are_whole"
NO_FAILURE = "no_failure_without_a_fault"
FENCED = "store.only_the_present_term_adds"

FILES = (
    Patch(
        "rename-comes-first",
        at=PUT,
        old="sync(unfinished)\n            await self._files.rename(unfinished, file)",
        new="rename(unfinished, file)\n            await self._files.sync(file)",
        killer=ARE_WHOLE,
        on=OBJECTS,
        source="property D",
        says="An object gets its name before its content is forced.",
    ),
    Patch(
        "object-is-written-in-place",
        at=PUT,
        old="""write(unfinished, data)
            await self._files.sync(unfinished)
            await self._files.rename(unfinished, file)""",
        new="write(file, data)\n            await self._files.sync(file)",
        killer=ARE_WHOLE,
        on=OBJECTS,
        source="property D",
        says="An object is written under its name.",
    ),
    Patch(
        "puts-share-the-unfinished-file",
        at="storage/parquet_store.py:ParquetStore._beside",
        old=" if name not in self._unfinished",
        new="",
        killer=ARE_WHOLE,
        on=Host("store-objects-two-puts", program.objects),
        source="property D",
        says="Two puts of one path that are under way write into one file.",
    ),
    Patch(
        "append-is-not-forced",
        at=WRITER + "append_line",
        old="await self._files.sync(self._file)",
        new="pass",
        also=(Edit(READ_LINES, "await files.sync(file)", "pass"),),
        killer=DURABLE,
        on=LOG,
        source="property D",
        says="An append is answered, and a line is read, before it is forced.",
    ),
    Patch(
        "end-is-kept-after-a-failure",
        at=WRITER + "append_line",
        old="self._whole = False",
        new="pass",
        killer=DURABLE,
        on=LOG_FAULTS,
        walked=WALKED_LOG,
        source="property D",
        says="After an append that failed the writer does not look at the file again.",
    ),
    Patch(
        "writer-gives-up-after-a-failure",
        at=WRITER + "append",
        old="await self.append_line(encode(pack))",
        new="""if getattr(self, "broken", False):
            raise StoreError(f"the log in {self._file} has failed before")
        self.broken = True
        await self.append_line(encode(pack))
        self.broken = False""",
        killer=NO_FAILURE,
        on=LOG_FAULTS,
        source="property D",
        says="After an append that failed the writer reports every other one as failed.",
    ),
    Patch(
        "tail-fails-its-readers",
        at=WRITER + "_mend",
        old="await self._files.truncate(self._file, end)",
        new='raise OSError("the last line has no end")',
        killer=NO_FAILURE,
        on=LOG,
        source="property D",
        says="After a power failure a writer reports a last line without an end as a failure.",
    ),
    Patch(
        "reader-does-not-force",
        at=READ_LINES,
        old="await files.sync(file)",
        new="pass",
        killer="store.what_was_read_is_durable",
        on=LOG,
        walked=WALKED_LOG,
        source="property L",
        says="A reader answers with a line that is not forced.",
    ),
    Patch(
        "tail-is-accepted",
        at="storage/file_log.py:whole_lines",
        old="""*ended, _ = found.split(b"\\n")
    for place, line in enumerate(ended):
        if _is_whole(line):""",
        new="""ended = found.split(b"\\n")
    for place, line in enumerate(ended):
        if _is_whole(line) or (line and line is ended[-1]):""",
        killer=ARE_WHOLE,
        on=LOG,
        source="property D",
        says="A last line without an end counts.",
    ),
    Patch(
        "checksum-is-ignored",
        at="storage/file_log.py:_is_whole",
        old="checksum == _checksum(text)",
        new="True",
        killer=ARE_WHOLE,
        on=LOG,
        source="property D",
        says="A line with an end counts, whatever is in it.",
    ),
)

DATABASES = (
    Patch(
        "channels-one-by-one",
        at="storage/sqlite_meta.py:SqliteMetaStore.save_channels",
        old="async with self._transactions.begin() as database:\n            for record in records:",
        new="for record in records:\n            async with self._transactions.begin() as database:",
        killer=ARE_WHOLE,
        on=METADATA,
        source="facts 10.1",
        says="Records that belong together are saved one after the other.",
    ),
    Patch(
        "commits-are-not-forced",
        at="storage/transactions.py:Transactions._prepare",
        old="execute(setting)",
        new='execute(setting.replace("FULL", "OFF"))',
        on=METADATA,
        source="property D",
        says="``synchronous`` is off.",
    ),
    Patch(
        "window-falls",
        at=SQLITE + "save",
        old="SAVE",
        new='"INSERT OR REPLACE INTO window VALUES (1, ?)"',
        killer=DURABLE,
        on=WINDOW,
        walked=WALKED_WINDOW,
        source="property M",
        says="The window is what was saved last.",
    ),
    Patch(
        "fence-is-ignored",
        at=SQLITE + "_check",
        old="await self._holder(database, now) != leadership.term",
        new="False",
        killer=FENCED,
        on=LAPSE,
        walked=WALKED_WINDOW,
        source="H43",
        says="Saves of any term are taken.",
    ),
    Patch(
        "leader-is-read-before",
        at=SQLITE + "campaign",
        old="await database.execute(LEAD",
        new="""pass
        async with self._transactions.begin() as database:
            await database.execute(LEAD""",
        on=LAPSE,
        source="facts 2.4",
        says="The leader is looked up outside of the transaction that replaces it.",
    ),
    Patch(
        "term-is-checked-before",
        at=SQLITE + "save",
        old="await database.execute(SAVE",
        new="""pass
        async with self._transactions.begin() as database:
            await database.execute(SAVE""",
        killer=FENCED,
        on=LAPSE,
        source="H43",
        says="The term is checked outside of the transaction that saves.",
    ),
    Patch(
        "etcd-key-is-replaced",
        at=ETCD_STORE + "_transaction",
        old="[compare]",
        new='[] if compare["target"] == "VERSION" else [compare]',
        on=ETCD,
        source="facts 2.4",
        says="The leader key is put without a comparison.",
    ),
    Patch(
        "etcd-save-is-unconditional",
        at=ETCD_STORE + "_transaction",
        old="[compare]",
        new='[] if compare["target"] == "LEASE" else [compare]',
        on=ETCD,
        source="H43",
        says="The window is put without a comparison of the lease.",
    ),
    Patch(
        "etcd-window-falls",
        at=ETCD_STORE + "save",
        old='{"compare": [greater], "success": [], "failure": [put]}',
        new='{"compare": [], "success": [put], "failure": []}',
        killer=DURABLE,
        on=ETCD,
        source="property M",
        says="The window is put without a comparison of its value.",
    ),
)
MUTANTS = patches(__name__, *FILES, *DATABASES)

FOLDER = "storage/parquet_folder.py:ParquetFolder."

SAVE_CHANNELS = "storage/sqlite_meta.py:SqliteMetaStore.save_channels"
FENCED_LOG = "storage/fenced_log.py:FencedLog."

SYNC = "storage/files.py:SystemFiles.sync"

ETCD_STORE = "storage/etcd_oracle.py:EtcdOracleStore."

SLIPS = (
    Patch(
        "channels-are-saved-one-by-one",
        at=SAVE_CHANNELS,
        old="async with self._transactions.begin() as database:\n            for record in records:",
        new="for record in records:\n            async with self._transactions.begin() as database:",
        source="facts 10.1",
        says="Records that are saved together are saved in a transaction each.",
    ),
    Patch(
        "of-channels-the-first-is-saved",
        at=SAVE_CHANNELS,
        old="in records:",
        new="in records[:1]:",
        source="facts 10.1",
        says="Of records that are saved together, the first one is.",
    ),
    Patch(
        "descriptor-is-left-open",
        at=SYNC,
        old="self._force(path)",
        new="self._calls.fsync(self._calls.open(path, os.O_RDONLY))",
        source="property D",
        says="Each file that is forced leaves a descriptor open.",
    ),
    Patch(
        "lost-log-goes-on",
        at=FENCED_LOG + "_check",
        old="if term != self.term:",
        new="self.broken = False\n        if term != self.term:",
        source="property D",
        says="A log whose last append has failed takes another one.",
    ),
    Patch(
        "a-disk-that-fails-has-no-files",
        at=FOLDER + "paths",
        old='raise StoreError(f"cannot list {below}: {failure}; check permissions") from failure',
        new="return ()",
        source="hazard 14",
        says="A folder that cannot be listed is taken for an empty one: records of its files are forgotten.",
    ),
    Patch(
        "files-are-in-the-order-of-their-paths",
        at=FOLDER + "paths",
        old="sorted(self._path_of(file) for file in found)",
        new='sorted(map(self._path_of, found), key=lambda path: path.split("/"))',
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
        source="hazard 14",
        says="A file goes that nobody has named.",
    ),
    Patch(
        "who-leaves-an-append-leaves-no-line",
        at=FENCED_LOG + "append",
        old="await self._writer_of(record.place).append_line(line)",
        new="""try:
                await self._writer_of(record.place).append_line(line)
            except asyncio.CancelledError:
                self.broken = False
                raise""",
        source="property D, B54",
        says="A log whose append was cancelled goes on at the same place.",
    ),
    Patch(
        "bytes-are-in-another-order-than-numbers",
        at=ETCD_STORE + "load",
        old='"big"',
        new='"little"',
        also=(Edit(ETCD_STORE + "save", '"big"', '"little"'),),
        source="facts 2.4",
        says="The end of the window begins with its lowest byte, in etcd and back.",
    ),
)
