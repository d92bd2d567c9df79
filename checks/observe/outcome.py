"""What happened to the data, in one sentence: the last line of a run that was judged."""

from __future__ import annotations

from collections.abc import Mapping

from tidemark.checks.verdicts.verdict import Outcome, Verdict

_STRONG, _KEPT = "history.strong/client-history", "history.kept/client-history"
_RECORDED = "flush.checkpoint_before_earliest_unsynced/rows-recorded"
_LATE = "timetick.watermark_promise/broker-watermark"
STORY = "docs/paused-proxy.md"


def outcome(verdicts: Mapping[str, Verdict], facts: Mapping[str, int]) -> str:
    """Which rows are gone, and which messages came after their tick.

    ``verdicts`` are those of the run by ``PROPERTY/MONITOR``, ``facts`` what it counted itself: with
    ``lost_rows`` it has compared what was read before a crash with what was read after the restart.
    """
    lost, late = _lost(verdicts, facts), _late(verdicts)
    told = "; ".join(one for one in (lost, late) if one)
    if not told:
        hold = {name for name, one in verdicts.items() if one.outcome is Outcome.HOLDS}
        undecided = [name for name in (_STRONG, _KEPT, _LATE) if name not in hold]
        if undecided:
            return f"No loss was found, but not everything is decided: {', '.join(undecided)}."
        return "Nothing was lost: reads show all that was acknowledged, and no message came after its tick."
    return f"{told[0].upper()}{told[1:]}. {STORY if 'lost_rows' in facts else 'docs/observe.md'}"


def _lost(verdicts: Mapping[str, Verdict], facts: Mapping[str, int]) -> str:
    count = facts.get("lost_rows", 0)
    strong, kept, recorded = (_breaches(verdicts, name) for name in (_STRONG, _KEPT, _RECORDED))
    if count:
        what = "acknowledged rows" if strong else "rows"
        unseen = "" if strong or kept else " (no judge of the clients' histories has found it)"
        verb = "are" if count > 1 else "is"
        what = what if count > 1 else what.removesuffix("s")
        return f"{count:,} {what} {verb} gone: read before the crash, not after the restart{unseen}"
    if strong or kept:
        reads = max(strong, kept)
        who = f"{reads:,} Strong reads miss" if reads > 1 else "1 Strong read misses"
        return f"{who} rows that were acknowledged or read before"
    return "rows below the stored checkpoint are in no binlog" if recorded else ""


def _late(verdicts: Mapping[str, Verdict]) -> str:
    late = _breaches(verdicts, _LATE)
    if not late:
        return ""
    return f"{late:,} messages came after their tick" if late > 1 else "1 message came after its tick"


def _breaches(verdicts: Mapping[str, Verdict], name: str) -> int:
    one = verdicts.get(name)
    return one.counts.get("breaches", 0) if one is not None and one.outcome is Outcome.REFUTED else 0
