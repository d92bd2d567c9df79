"""From the live objects of proxies and coordinator to the state of ``tidemark.spec.ids``."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from tidemark.impl.proxy.ids import IdCache
from tidemark.impl.timestamp import Batch
from tidemark.models.refinement.origins import Environment


@dataclass(eq=False)
class Question:
    """What one incarnation of a proxy has asked.

    answer: what came; None before. failed: nothing will come.
    """

    alive: Callable[[], bool]
    cache: IdCache
    answer: Batch | None = None
    failed: bool = False

    @property
    def open(self) -> bool:
        """The proxy waits for the answer."""
        return self.alive() and not self.failed and self.answer is None


class QuestionView(NamedTuple):
    """One question. ``came``: its batch did. ``next``: the next id of that, if something is left of it."""

    stage: str
    came: bool = False
    next: int = 0


@dataclass(frozen=True)
class ProxyView:
    """One proxy, all its incarnations. ``runs``: by request what it was given."""

    questions: tuple[QuestionView, ...]
    runs: tuple[tuple[Batch, ...], ...]


def question_view(question: Question, *, is_last: bool) -> QuestionView:
    """The picture of a question. ``is_last``: no later one was answered in this incarnation."""
    if question.answer is None:
        return QuestionView("asked" if question.open else "lost")
    left = question.cache.left
    following = left.first if is_last and left is not None else 0
    return QuestionView("held" if question.alive() else "lost", came=True, next=following)


def abstract(
    proxies: Sequence[ProxyView],
    answers: Mapping[tuple[int, int], Batch],
    *,
    questions: int,
    slots: Sequence[tuple[int, int]],
    key: Callable[[int], int],
) -> dict[str, Any]:
    """The state of ``tidemark.spec.ids``, by variable name and without the fault counter.

    Args:
        answers: by proxy and number of its question what it was answered while it was awaited.
        questions: how many a proxy may ask.
        slots: by row its request, and which run of that it is.
        key: the specification's number of an id.
    """
    batches = [(p, n) for p in range(len(proxies)) for n in range(questions)]
    views = {b: _view(proxies[p], n) for b, (p, n) in enumerate(batches)}
    granted = {b: answers.get(place) for b, place in enumerate(batches)}
    found = [_run(proxies, request, n) for request, n in slots]
    rows = {r: run for r, (_, run) in enumerate(found)}
    return {
        "stage": {b: _stage(view, granted[b]) for b, view in views.items()},
        "lowest": {b: 0 if batch is None else key(batch.first) for b, batch in granted.items()},
        "highest": {b: 0 if batch is None else key(batch.last) for b, batch in granted.items()},
        "next": {b: _next(views[b], batch, key) for b, batch in granted.items()},
        "has": {r: run is not None for r, run in rows.items()},
        "id": {r: 0 if run is None else key(run.first) for r, run in rows.items()},
        "last": {r: 0 if run is None else key(run.last) for r, run in rows.items()},
        "uses": {
            (r, b): _is_of(run, batch, p == batches[b][0])
            for r, (p, run) in enumerate(found)
            for b, batch in granted.items()
        },
    }


def _view(proxy: ProxyView, number: int) -> QuestionView:
    return proxy.questions[number] if number < len(proxy.questions) else QuestionView("new")


def _run(proxies: Sequence[ProxyView], request: int, number: int) -> tuple[int, Batch | None]:
    """The proxy that has given a run, and the run."""
    for p, proxy in enumerate(proxies):
        if number < len(proxy.runs[request]):
            return p, proxy.runs[request][number]
    return 0, None


def _stage(view: QuestionView, granted: Batch | None) -> str:
    return "answered" if view.stage == "asked" and granted is not None else view.stage


def _next(view: QuestionView, granted: Batch | None, key: Callable[[int], int]) -> int:
    if granted is None:
        return 0
    if not view.came:
        return key(granted.first)
    return key(view.next) if view.next else key(granted.last) + 1


def _is_of(run: Batch | None, batch: Batch | None, mine: bool) -> bool:  # noqa: FBT001
    return run is not None and batch is not None and mine and batch.first <= run.first <= batch.last


ENVIRONMENT = Environment(
    "spec/ids:Ids",
    {
        "stage, lowest, highest": "questions and answers on the network, and who awaited them",
    },
)
"""What is not read from the implementation, and why."""
