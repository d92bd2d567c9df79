"""Mutants of the stores of sessions, in a file and in etcd, and of who follows them."""

from tidemark.models.mutation.patches import Host, Patch, patches
from tidemark.models.protocols.sessions.ports.real_etcd import over_etcd
from tidemark.models.protocols.sessions.program import sessions

BEHIND = Host("sessions-impl-falls-behind", sessions)
BACK = Host("sessions-impl-comes-back", sessions)
ETCD_BEHIND = Host("sessions-etcd-falls-behind", over_etcd)

WATCH = "rootcoord/session_watch.py:SessionWatch."
SYNC = "rootcoord/time_tick_sync.py:TimeTickSync."
SQLITE = "broker/sessions.py:SqliteSessions."
ETCD = "broker/etcd_sessions.py:EtcdSessions."

VIEW = "sessions.the_view_is_the_store_of_its_revision"
DISCOVERY = "seed 004: service discovery"

FOLLOWERS = (
    Patch(
        "a-refused-watch-goes-on",
        at=WATCH + "run",
        old="self.revision = await self._sync.list_again(self._sessions.take_over)",
        new="self.revision += 1",
        on=BEHIND,
        source=DISCOVERY,
        says="A watch that is refused goes on behind what is forgotten.",
    ),
    Patch(
        "a-list-adds-only",
        at=SYNC + "list_again",
        old="{source: self.entries.get(source) for source in (DDL_SOURCE, *sources)}",
        new="{**dict.fromkeys(sources), **self.entries}",
        on=BEHIND,
        source="hazard 11",
        says="A second list adds what is new, and what is gone is waited for for ever.",
    ),
    Patch(
        "a-session-is-forgotten-before-it-is-fenced",
        at=SYNC + "del_session",
        old="await fence(source)\n            self.entries.pop(source, None)",
        new="self.entries.pop(source, None)\n            await fence(source)",
        killer="sessions.who_serves_is_known_or_refused",
        on=BACK,
        source="hazard 11",
        says="No round waits for a session that the logs do not refuse yet.",
    ),
)

FILES = (
    Patch(
        "a-fence-is-noted-before-it-is-there",
        at=SQLITE + "fence",
        old="""await self._fences.fence(source)
        async with self._transactions.begin() as database:
            await database.execute(FENCE, (source,))""",
        new="""async with self._transactions.begin() as database:
            await database.execute(FENCE, (source,))
        await self._fences.fence(source)""",
        on=BEHIND,
        source="hazard 11",
        says="A coordinator that crashes in between leaves a session that is never fenced.",
    ),
    Patch(
        "the-watch-begins-with-what-is-new",
        at=SQLITE + "take_over",
        old="return [int(source)",
        new="""async with self._transactions.begin() as database:
            revision = await self._last(database)
        return [int(source)""",
        killer=VIEW,
        on=BACK,
        source="hazard 10",
        says="The watch begins with the revision after the list: changes between the two are missed.",
    ),
    Patch(
        "a-node-that-comes-back-has-its-old-number",
        at=SQLITE + "register",
        old="[(source,)] = await",
        new="""known = await database.execute(
                "UPDATE sessions SET state = 'alive' WHERE name = ? RETURNING source", (name,)
            )
            [(source,)] = known or await""",
        killer=VIEW,
        on=BACK,
        source="facts 3.4; B45",
        says="A node comes back under the number that the logs refuse.",
    ),
)

ETCDS = (
    Patch(
        "a-watch-begins-behind-what-is-known",
        at="storage/etcd_client.py:watch_of",
        old="str(after)",
        new="str(after + 1)",
        on=ETCD_BEHIND,
        source="hazard 10; seed 004: service discovery",
        says="A watch begins with the next revision: etcd, compacted to it, tells nothing of its deletion.",
    ),
    Patch(
        "the-revision-is-read-after-the-list",
        at=ETCD + "take_over",
        old="return list(alive), revision",
        new="_, _, revision = await self._list()\n        return list(alive), revision",
        killer=VIEW,
        on=Host("sessions-etcd-comes-back", over_etcd),
        source="hazard 10",
        says="The watch begins with the revision of a second list: changes between the two are missed.",
    ),
    Patch(
        "a-number-is-taken-without-a-look",
        at=ETCD + "_register",
        old='[{"key": self._last, "target": "VERSION", "result": "EQUAL", "version": version}]',
        new="[]",
        on=Host("sessions-etcd-two-nodes", over_etcd),
        source="facts 3.4",
        says="Two nodes that come at once get one number.",
    ),
)

MUTANTS = patches(
    __name__,
    *FOLLOWERS,
    *FILES,
    *ETCDS,
    Patch(
        "the-list-misses-one",
        at=WATCH + "load",
        old="init_sessions(sources)",
        new="init_sessions(sources[:-1])",
        walked=Host("sessions-driven", sessions),
        source="seed 004: service discovery",
        says="The coordinator does not take over the last session of the list.",
    ),
)

FILE_SLIPS = (
    Patch(
        "a-file-renews-a-session-after-its-end",
        at=SQLITE + "renew",
        old="RENEW, (now, source, now)",
        new='RENEW.replace(" AND expires > ?", ""), (now, source)',
        source="hazard 11: leases",
        says="A session whose lease has run out is renewed as long as no look has noticed it.",
    ),
    Patch(
        "a-file-keeps-the-change-up-to-which-it-forgets",
        at=SQLITE + "compact",
        old="(upto,)",
        new="(upto - 1,)",
        source=DISCOVERY,
        says="The last of the changes that are to be forgotten stays.",
    ),
    Patch(
        "a-file-counts-the-changes-that-are-left",
        at=SQLITE + "_last",
        old="execute(LAST)",
        new='execute("SELECT coalesce(max(revision), 0) FROM changes")',
        source=DISCOVERY,
        says="The last revision is that of the changes that are not forgotten.",
    ),
)

ETCD_SLIPS = (
    Patch(
        "a-lease-is-shorter-than-asked",
        at=ETCD + "register",
        old="math.ceil(lease)",
        new="math.floor(lease) or 1",
        source="facts 3.4",
        says="A lease of a second and a half is granted for one second.",
    ),
    Patch(
        "a-holder-does-not-hear-of-the-end",
        at=ETCD + "renew",
        old="raise SessionEndedError(",
        new="str(",
        source="facts 3.4",
        says="A renewal of a session that is over succeeds, and its holder goes on.",
    ),
)
