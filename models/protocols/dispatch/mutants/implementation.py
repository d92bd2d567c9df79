"""Mutants of the dispatchers of a channel: hazards and real bugs, in every order.

A claim about states is refuted at the variant of the specification that makes the same mistake; where there
is none, the specification itself tells.
"""

from tidemark.models.mutation.patches import Edit, Host, Patch, patches
from tidemark.models.protocols.dispatch.program import dispatch

MERGE = Host("dispatch-impl-merge", dispatch)
LEAVE = Host("dispatch-impl-leave", dispatch)

CHANNEL = "stream/manager.py:DispatcherManager."
MAIN = "stream/dispatchers.py:MainDispatcher."
VARIANTS = "tidemark.models.protocols.dispatch.mutants.specification:"
LEVEL = "dispatch.who_is_at_the_main_is_where_it_is"
TICKS = "dispatch.ticks_reach_who_takes_them"
THERE = "dispatch.dispatchers_are_there_for_their_targets"
NOTHING_ELSE = "dispatch.nothing_else_is_sent"
LAG = "facts 5.2: maxTolerantLag"

MUTANTS = patches(
    __name__,
    Patch(
        "merge-without-second-check",
        at=CHANNEL + "is_level",
        old="deputy.at == main.at",
        new="True",
        killer=LEVEL,
        on=MERGE.like(protocol=VARIANTS + "MergeWithoutSecondCheck"),
        source="H50: no second check",
        says="Both were at the same tick when the merge began; nobody looks whether they still are.",
    ),
    Patch(
        "a-paused-main-goes-on",
        at="stream/dispatchers.py:Dispatcher.may_take",
        old="not self.paused",
        new="True",
        on=MERGE,
        source="H50: no pause",
        says="The main dispatcher takes packs while it is paused.",
    ),
    Patch(
        "the-main-is-not-resumed",
        at=CHANNEL + "_next_of_a_merge",
        old="else self._resume_main",
        new="else None",
        killer=TICKS,
        on=MERGE,
        source="facts 5.2: resume",
        says="A main dispatcher that was paused stays so.",
    ),
    Patch(
        "the-deputy-is-not-resumed",
        at=CHANNEL + "_give_up",
        old="deputy.candidate = deputy.paused",
        new="deputy.candidate",
        on=MERGE,
        source="facts 5.2: resume",
        says="A deputy that was paused and is not merged stays paused.",
    ),
    Patch(
        "a-merged-deputy-lives-on",
        at=CHANNEL + "_merge",
        old="self._end(deputy)",
        new="deputy.paused = False",
        killer="no_dispatcher_is_left",
        on=MERGE,
        source="facts 5.2: merge",
        says="The deputy of a target that was merged goes on sending.",
    ),
    # Packs.
    Patch(
        "split-from-the-end",
        at=MAIN + "_send",
        old="pack.start",
        new="pack.finish",
        killer=LEVEL,
        on=Host("dispatch-impl-slow", dispatch).like(protocol=VARIANTS + "SplitFromTheEnd"),
        source="H50: the split's position",
        says="A target that is split off goes on behind the pack that it did not take.",
    ),
    Patch(
        "waits-for-slow-targets",
        at=MAIN + "patience",
        old="self._config.tolerant_seconds if len(self.targets) > 1 else None",
        new="None",
        killer=TICKS,
        on=Host("dispatch-impl-stuck", dispatch),
        source=LAG,
        says="The main dispatcher waits for a target that takes nothing.",
    ),
    Patch(
        "the-only-target-is-split-off",
        at=MAIN + "_may_split",
        old=" and len(self.targets) > 1",
        new="",
        killer=THERE,
        on=Host("dispatch-impl-last", dispatch),
        source="facts 5.2: more than one target",
        says="A target that has become the only one is split off: a main dispatcher without targets is left.",
    ),
    Patch(
        "skips-only-what-ends-below",
        at=MAIN + "_hand_out",
        old="self.is_sent(target, pack)",
        new="pack.end >= target.position.ts",
        killer=NOTHING_ELSE,
        on=MERGE.like(protocol=VARIANTS + "SkipsOnlyWhatEndsBelow"),
        source="B24: the skip rule",
        says="A pack that ends at a target's position is sent (B24).",
    ),
    Patch(
        "skips-nothing",
        at=MAIN + "_hand_out",
        old=" if self.is_sent(target, pack)",
        new="",
        killer=NOTHING_ELSE,
        on=MERGE.like(protocol=VARIANTS + "SkipsNothing"),
        source="facts 5.2: the skip rule",
        tier="full",
        says="Every target of the main dispatcher gets every pack, whatever its position.",
    ),
    Patch(
        "no-tick-without-messages",
        at=MAIN + "_hand_out",
        old="self.is_sent(target, pack)",
        new="self.is_sent(target, pack) and pack.of(target.channel).messages",
        killer=LEVEL,
        on=MERGE.like(protocol=VARIANTS + "NoTickWithoutMessages"),
        source="seed 002 (groupingMsgs: ticks for all)",
        says="A target without messages in the pack gets nothing, no tick either.",
    ),
    Patch(
        "substring-of-the-collection",
        at="values/messages.py:is_for",
        old="== collection_of(channel)",
        new="in channel",
        killer=NOTHING_ELSE,
        on=Host("dispatch-impl-collections", dispatch).like(
            protocol="tidemark.spec.dispatch.variants.other_rules:SubstringOfTheCollection",
            contains=[[True, False], [True, True]],
        ),
        source="facts 5.2: the substring",
        says="A message about collection 1 reaches a shard of collection 10.",
    ),
    Patch(
        "a-collection-is-one-shard",
        at="values/messages.py:is_for",
        old="isinstance(message, DdlMessage)",
        new="False",
        killer="dispatch.nothing_is_left_out",
        on=LEAVE,
        source="facts 5.2: all shards",
        says="A message about a collection reaches the shard only that it names.",
    ),
    # Targets that go, who is served, and until when.
    Patch(
        "who-is-gone-is-still-owed",
        at=MAIN + "drop",
        old="target in self.owed",
        new="False",
        killer=THERE,
        on=LEAVE,
        source="facts 5.2: a target goes",
        says="The main dispatcher owes its pack to a target that is gone, and waits for it.",
    ),
    Patch(
        "a-paused-deputy-waits-for-a-main",
        at=CHANNEL + "_next_of_a_merge",
        old="if any(",
        new="if main is not None and any(",
        killer=TICKS,
        on=Host("dispatch-impl-end", dispatch),
        source="facts 5.2: a target goes",
        says="The main dispatcher ended during a merge: the deputy stays paused.",
    ),
    Patch(
        "a-channel-with-a-deputy-comes-again",
        at=CHANNEL + "channels",
        old=", *self.deputies",
        new="",
        killer="a_channel_is_registered_once",
        on=LEAVE,
        source="facts 5.2: a target that lags is split off",
        says="A channel that has a deputy is registered a second time.",
    ),
    Patch(
        "a-target-that-is-gone-takes-a-pack",
        at="stream/targets.py:Target.next_pack",
        old='await self._preemption.point("target.take")\n        if self.gone',
        new='gone = self.gone\n        await self._preemption.point("target.take")\n        if gone',
        killer="a_target_that_is_gone_takes_nothing",
        on=LEAVE,
        source="facts 5.2: targets come and go",
        says="A reader looks whether its target is gone before it goes on, and not after.",
    ),
    Patch(
        "who-is-alone-has-no-more-time",
        at=MAIN + "patience",
        old=" if len(self.targets) > 1 else None",
        new="",
        also=(Edit(MAIN + "_may_split", " and len(self.targets) > 1", ""),),
        killer=THERE,
        on=Host("dispatch-impl-last", dispatch),
        source=LAG,
        says="A target that is alone has as little time as one for which others wait, and is split off.",
    ),
    Patch(
        "splits-from-the-end-of-the-pack",
        at="stream/dispatchers.py:MainDispatcher._send",
        old="pack.start",
        new="pack.finish",
        walked=Host("dispatch-driven", dispatch),
        source="H50: the split's position",
        says="A target that is split off goes on behind the pack that it did not take.",
    ),
)
