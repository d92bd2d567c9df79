"""Mistakes that people make in the adapters of the stores. Their tests try them."""

from __future__ import annotations

from tidemark.models.mutation.patches import Edit, Patch

FOLDER = "storage/parquet_folder.py:ParquetFolder."
FENCED = "storage/fenced_log.py:FencedLog."
SYNC = "storage/files.py:SystemFiles.sync"
ETCD = "storage/etcd_oracle.py:EtcdOracleStore."

MUTANTS = (
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
        at=FENCED + "_check",
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
        at=FENCED + "append",
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
        at=ETCD + "load",
        old='"big"',
        new='"little"',
        also=(Edit(ETCD + "save", '"big"', '"little"'),),
        source="facts 2.4",
        says="The end of the window begins with its lowest byte, in etcd and back.",
    ),
)
