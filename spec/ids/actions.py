"""Ids in batches: the steps.

Rows get primary keys, and tasks get ids. A proxy fetches batches of them from the root coordinator, and gives
them away in runs: one id to a task, several to the rows of a request. In Milvus the coordinator's side is a
second timestamp oracle, under a key of its own in the store: it saves the end of its window ahead, and a
batch is one call with a count. So that side is ``tso``, crashes and changes of the leader included. The
claims are in ``spec/ids/claims.py``.

``Row`` is the receiver of one run of consecutive ids: a task, a row, or several rows of one request. A
request that needs more than the rest of a batch is several of them.

Source: seed 004, 6.0.
"""

from tidemark.spec.language import (
    Bool,
    Enum,
    Map,
    Nat,
    Protocol,
    Set,
    Sort,
    TypeAlias,
    action,
    all_of,
    constant,
    each,
    everywhere,
    forall,
    implies,
    ite,
    one_of,
    option,
    require,
)


class IdsActions(Protocol, name="ids"):
    """Batches of ids: asked for, answered, lost, given in runs; proxies that crash."""

    Proxy: TypeAlias = Sort
    Batch: TypeAlias = Sort
    Row: TypeAlias = Sort
    Key: TypeAlias = Nat
    Faults: TypeAlias = Nat
    Stage: TypeAlias = Enum["new", "asked", "answered", "held", "lost"]

    ONCE: Bool = option(True)  # an answer that comes twice is taken once
    FORGETS: Bool = option(True)  # a proxy that restarts fetches a new batch

    by: Map[Batch, Proxy] = constant()

    stage: Map[Batch, Stage] = everywhere("new")
    lowest: Map[Batch, Key] = everywhere(0)
    highest: Map[Batch, Key] = everywhere(0)
    next: Map[Batch, Key] = everywhere(0)  # the next id that is given; 0 before the answer
    has: Set[Row] = everywhere(False)
    id: Map[Row, Key] = everywhere(0)  # the first id of its run
    last: Map[Row, Key] = everywhere(0)
    uses: Set[Row, Batch] = everywhere(False)  # the row has its id from this batch
    faults: Faults = 0

    # ---- helpers ----

    def is_granted(s, b: Batch) -> Bool:
        """The coordinator has answered; ids begin at 1."""
        return s.next[b] > 0

    def is_apart(s, b: Batch, first: Key, last: Key) -> Bool:
        """No id of the batch is between these two."""
        return (s.highest[b] < first) | (last < s.lowest[b])

    # ---- the steps ----

    @action(source="seed 004, 6.0")
    def ask(s, b: Batch) -> None:
        """A proxy asks for a batch."""
        require(s.stage[b] == "new")
        s.stage[b] = "asked"

    @action(source="seed 004, 6.0", relies_on=("tso.unique",))
    def answer(s, b: Batch, first: Key, last: Key) -> None:
        """The coordinator answers: ids that are in no other answer."""
        require((s.stage[b] == "asked") & (first >= 1) & (first <= last))
        require(s.is_new(b, first, last))
        s.stage[b] = "answered"
        s.lowest[b] = first
        s.highest[b] = last
        s.next[b] = first

    @action(source="seed 004, 6.0", relies_on=("tso.unique",))
    def answer_again(s, b: Batch, first: Key, last: Key) -> None:
        """The question was delivered twice, and the answer to the other delivery arrives: the ids of the
        first answer are not used. The coordinator need not recognise the question.
        """
        require((s.stage[b] == "answered") & (first >= 1) & (first <= last))
        require(s.is_new(b, first, last))
        s.lowest[b] = first
        s.highest[b] = last
        s.next[b] = first

    def is_new(s, b: Batch, first: Key, last: Key) -> Bool:
        return forall(s.Batch, lambda c: implies((c != b) & s.is_granted(c), s.is_apart(c, first, last)))

    @action(source="seed 004, 6.0")
    def lose(s, b: Batch) -> None:
        """The question or the answer is lost: its ids are not used; the proxy asks for another batch."""
        require(one_of(s.stage[b], "asked", "answered"))
        s.stage[b] = "lost"

    @action(source="seed 004, 6.0")
    def hold(s, b: Batch) -> None:
        """The proxy has the batch."""
        require(s.stage[b] == "answered")
        s.stage[b] = "held"

    @action(source="seed 004, 6.0")
    def hold_again(s, b: Batch) -> None:
        """The answer comes a second time."""
        require(s.stage[b] == "held")
        s.next[b] = ite(s.ONCE, s.next[b], s.lowest[b])

    @action(source="seed 004, 6.0")
    def give(s, b: Batch, r: Row, last: Key) -> None:
        """A row gets the next ids of a batch that its proxy holds."""
        require(all_of(s.stage[b] == "held", ~s.has[r], s.next[b] <= last, last <= s.highest[b]))
        s.has[r] = True
        s.id[r] = s.next[b]
        s.last[r] = last
        s.uses[r, b] = True
        s.next[b] = last + 1

    @action(source="seed 004, 6.0")
    def crash(s, p: Proxy) -> None:
        """A proxy stops: its questions and batches are lost."""
        s.faults = s.faults + 1
        before = s.stage
        s.next = each(
            s.Batch,
            lambda b: ite((s.by[b] == p) & (before[b] == "held") & ~s.FORGETS, s.lowest[b], s.next[b]),
        )
        s.stage = each(
            s.Batch,
            lambda b: ite(
                (s.by[b] == p)
                & (one_of(before[b], "asked", "answered") | ((before[b] == "held") & s.FORGETS)),
                "lost",
                before[b],
            ),
        )
