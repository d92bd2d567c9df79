"""A failing order told step by step: which tasks moved, and where they wait now."""

from collections.abc import Sequence

from tidemark.checks.interleave.executions.replay import Exact
from tidemark.checks.interleave.executions.run import run_once
from tidemark.checks.interleave.result import Found
from tidemark.checks.interleave.search_loop import quiet
from tidemark.checks.interleave.strategies.strategy import StateStrategy
from tidemark.models.simulation import Execution, Footprint, Interner, ProgramRef
from tidemark.models.simulation.loop.lane import where


def tell(program: ProgramRef, found: Found) -> str:
    """Run a failing execution again, and return what happened in it, line by line."""
    watch = _Watching(found.picks)
    with quiet():
        run_once(program.load(), watch, interner=Interner(), steps=max(len(found.picks), 1))
    settings = program.load()().settings
    deviations = sum(1 for pick in found.picks if pick)
    lines = [
        found.violation.message,
        f"{program.text()}: {settings.text()}",
        f"{len(found.picks)} steps, {deviations} of them not the default choice:",
    ]
    before: dict[str, str] = watch.seen[0] if watch.seen else {}
    for number, (label, after) in enumerate(zip(found.labels, watch.seen[1:], strict=False), start=1):
        moved = [text for name, text in after.items() if before.get(name) != text]
        if moved:
            lines.append(f"  {number}. {label}: {'; '.join(moved)}")
        before = after
    lines.append(f"replay token: {found.token}")
    return "\n".join(lines)


class _Watching(Exact, StateStrategy):
    """A replay that notes where each task waits."""

    def __init__(self, picks: Sequence[int]) -> None:
        super().__init__(picks)
        self.seen: list[dict[str, str]] = []
        self._execution: Execution | None = None

    def arrive(self, execution: Execution) -> bool:
        """Note it, and go on."""
        self._execution = execution
        self._look()
        return True

    def done(self, last: Footprint | None) -> None:
        """Note it once more."""
        del last
        self._look()

    def _look(self) -> None:
        if self._execution is None:
            return
        tasks = [task for lane in self._execution.world.every_lane for task in lane.tasks]
        self.seen.append(
            {
                f"{number} {task.get_name()}": f"{task.get_name()} ended" if task.done() else where(task)
                for number, task in enumerate(tasks)
            }
        )
