"""Instances that use every part of the language, for the exports."""

from tests.protocols.known.counts import ROWS
from tidemark.checks.crosscheck.peers import PEERS
from tidemark.models.instance import Instance

SMALL = "tests.protocols.small:"
GALLERY = {
    instance.name: instance
    for instance in (
        Instance("tests.protocols.corners:Flags", name="flags"),
        Instance(
            "tests.protocols.corners:Corners",
            {"Node": 1, "Place": 1, "Depth": (-2, 1)},
            {"weights": [[-1, 1]]},
            name="corners",
        ),
        Instance(
            "tests.protocols.features:Features",
            {"Node": 1, "Place": 1, "Level": (-1, 1)},
            {"owner": [0, 0], "weight": [[0, 1], [1, 0], [2, -1]]},
            name="features",
        ),
        Instance(
            "tests.protocols.lights:Lights",
            {"Lamp": 2, "Turn": 3},
            {"CAREFUL": False},
            name="careless-lights",
        ),
        Instance(
            "tests.protocols.stations:Stations",
            {"Station": 2, "Place": 1, "Balance": (-1, 2)},
            {"route": [0, 1], "capacity": 2},
            name="stations",
        ),
        Instance("tests.protocols_proof.locks:TicketLock", {"Process": 2, "Ticket": 3}, name="tickets"),
        Instance("tests.protocols_proof.traps:Signs", {"Level": (-2, 2), "Place": 2}, name="signs"),
        Instance(SMALL + "LostLock", {"Process": 2}, name="lost-lock"),
        Instance(SMALL + "TwoPhase", {"Manager": 2}, name="two-phase"),
    )
}
"""By name; less than a second of the interpreter each."""

EVERY = {
    **GALLERY,
    **{row.name.lower(): row.instance for row in ROWS if row.name != "CoffeeCan"},
    **{peer.name: peer.instance for peer in PEERS.values()},
}
