"""What is promised to a client, level by level. These are no claims of a protocol, but of the system."""

CLAIMS: dict[str, str] = {
    "history.strong": "A Strong read has every row acknowledged before it began, and none whose delete was.",
    "history.session": "A Session read has what its own process wrote before, and not what it deleted.",
    "history.bounded": "A Bounded read has every row acknowledged five seconds before it began, "
    "and none deleted before that.",
    "history.customized": "A read with a guarantee timestamp has every write acknowledged at or below it.",
    "history.written": "A read returns only what was written before the read ended.",
    "history.kept": "A row that was read stays until it is deleted, also across a crash.",
    "history.moment": "A read of a collection with one shard is of one moment: it shows no later write "
    "without each earlier one.",
    "history.count": "A count is between the number of rows that must exist and of those that can; a query "
    "answers no row twice.",
    "history.ordered": "A write that begins after another was acknowledged has a greater timestamp.",
}
"""Id -> sentence."""

OF_LEVEL = {
    "Strong": "history.strong",
    "Session": "history.session",
    "Bounded": "history.bounded",
    "Customized": "history.customized",
}
"""Level -> the claim about it. Eventually promises nothing about a single read but ``history.written``."""

BOUND = 5_000_000_000
"""Nanoseconds by which a Bounded read may be late, as shipped (``common.gracefulTime``)."""
