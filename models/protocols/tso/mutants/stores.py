"""Mutants of the oracle's store in etcd, and of how the oracle uses it."""

from tidemark.models.mutation.patches import Host, Patch, patches
from tidemark.models.protocols.tso.ports.real_etcd import over_etcd

CRASH = Host("tso-over-etcd", over_etcd)
EARLY = Host("tso-over-etcd-early", over_etcd)
SAVE = "storage/etcd_oracle.py:EtcdOracleStore.save"

MUTANTS = patches(
    __name__,
    Patch(
        "saves-are-not-waited-for",
        at="tso/oracle.py:TimestampOracle._save_window",
        old="await self._store.save(end, self._term.leadership)",
        new="""import asyncio

        save, name = self._store.save(end, self._term.leadership), asyncio.current_task().get_name()
        self.saving = asyncio.create_task(save, name=name)""",
        killer="tso.windows_are_saved",
        on=CRASH,
        source="facts 2.2: on save error return",
        says="The window counts as saved when the request is sent.",
    ),
    Patch(
        "saves-have-no-condition",
        at=SAVE,
        old="answer = await",
        new="""await self._client.call("/v3/kv/txn", {"compare": [], "success": [put], "failure": []})
        return
        answer = await""",
        on=EARLY,
        source="H43",
        says="A deposed leader saves, and etcd takes it (H43).",
    ),
    Patch(
        "no-save-is-taken",
        at=SAVE,
        old="str(leadership.term)",
        new="str(leadership.term + 1)",
        killer="work_is_done",
        on=CRASH,
        source="facts 2.4",
        says="A save is compared with a lease that is not the leader's: no server ever serves.",
    ),
    Patch(
        "the-save-of-an-update-is-reported-as-failed",
        at=SAVE,
        old='if not answer.get("succeeded"):',
        new="""if answer.get("succeeded") and self.__dict__.setdefault("first", end) != end:
            raise StoreError("the window was there before")
        if not answer.get("succeeded"):""",
        on=EARLY,
        source="facts 2.2: on save error return",
        says="A window that was replaced is reported as not saved; the oracle goes on with what it has.",
    ),
)
