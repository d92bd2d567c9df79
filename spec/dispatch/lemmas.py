"""Inductive lemmas: why splits and merges lose no message, for any number of targets and packs."""

from tidemark.spec.dispatch.ranking import DispatchRanking
from tidemark.spec.language import all_of, forall, implies, lemma


class Dispatch(DispatchRanking):
    """One physical channel; any number of virtual channels, collections, messages and ticks."""

    def is_end(s, value):
        """A pack may end here, or the log begins."""
        return (value == 0) | s.is_tick[value]

    @lemma(source="facts 5.1")
    def ticks_are_those_of_the_log(s):
        """The last tick is the greatest; messages that were read are in the log."""
        return all_of(
            forall(s.Ts, lambda x: implies(s.is_tick[x], (x > 0) & (x <= s.tick))),
            s.is_end(s.tick),
            forall(s.Message, lambda m: implies(s.handed[m], s.logged[m])),
            forall(s.Message, lambda m: s.logged[m] | (s.ts[m] == 0)),
        )

    @lemma(source="facts 5.2")
    def the_main_goes_from_tick_to_tick(s):
        """The current pack has one tick, and was read. Without a main dispatcher its place is 0."""
        return all_of(
            implies(s.main == "none", s.main_at == 0),
            s.main_from <= s.main_at,
            s.main_at <= s.tick,
            s.is_end(s.main_at),
            s.is_end(s.main_from),
            forall(s.Ts, lambda x: implies(s.is_tick[x], (x <= s.main_from) | (x >= s.main_at))),
            s.is_complete(s.main_from, s.main_at),
        )

    @lemma(source="facts 5.2")
    def positions_are_ends_of_packs(s):
        """First position, present position and last pack are in order, and ends of packs."""
        return forall(
            s.Target,
            lambda t: all_of(
                s.begins[t] <= s.position[t],
                s.position[t] <= s.upto[t],
                s.upto[t] <= s.tick,
                s.is_end(s.position[t]),
                s.is_end(s.deputy_at[t]),
                implies(s.where[t] == "absent", s.upto[t] == 0),
                implies(s.where[t] == "waiting", s.upto[t] == s.position[t]),
                implies(s.where[t] == "deputy", s.upto[t] == s.deputy_at[t]),
            ),
        )

    @lemma(source="facts 5.2")
    def who_is_owed_is_at_the_main(s):
        """Unsent parts of a pack belong to targets of a running main dispatcher that have all before it."""
        return forall(
            s.Target,
            lambda t: all_of(
                implies(s.owed[t], (s.where[t] == "main") & (s.position[t] <= s.main_from)),
                implies(s.owed[t], (s.main == "running") & (s.main_from < s.main_at)),
                implies(s.where[t] == "main", s.main != "none"),
                (s.deputy[t] != "none") == (s.where[t] == "deputy"),
                implies(s.candidate[t], s.where[t] == "deputy"),
                implies(s.deputy[t] == "paused", s.candidate[t]),
            ),
        )
