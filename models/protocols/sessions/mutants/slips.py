"""Mistakes that people make in the stores of sessions. Their tests try them."""

from __future__ import annotations

from tidemark.models.mutation.patches import Patch

SQLITE = "broker/sessions.py:SqliteSessions."
ETCD = "broker/etcd_sessions.py:EtcdSessions."
DISCOVERY = "seed 004: service discovery"

FILES = (
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
ETCDS = (
    Patch(
        "a-lease-is-shorter-than-asked",
        at=ETCD + "register",
        old="math.ceil(lease)",
        new="math.floor(lease) or 1",
        source="facts 3.4",
        says="A lease of a second and a half is granted for one second.",
    ),
    Patch(
        "who-leaves-keeps-its-lease",
        at=ETCD + "end",
        old="await self._revoke(lease)",
        new="pass",
        source="facts 3.4",
        says="A node that leaves in good order is waited for until its lease has run out.",
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
