"""Programs in which the edges of a component answer as scripts say, while time passes.

The explored programs of the protocols have clocks without lengths, and edges that answer in any way within a
budget of faults. Here durations are real, answers are given, or come at any time where a script says so, and
what the component then does at each moment is compared with a reckoning of what it has to do. The scripts
are explored together: the first step picks one.
"""

import asyncio
from collections.abc import Hashable, Mapping, Sequence
from typing import Any

from tidemark.models.frozen import frozen
from tidemark.models.simulation.program import Observation, Program
from tidemark.models.simulation.settings import ClockOrder, Settings
from tidemark.models.simulation.world.process import Process
from tidemark.models.simulation.world.world import World

NAME = "a"
"""Name of the process."""
OK = "ok"
LATE = "late "
"""How an answer begins that comes at any time after the question."""
NEVER = "never"
"""No answer comes."""

Script = Mapping[str, Any]


class ScriptedProgram(Program):
    """One process whose edges answer by script.

    Args:
        scripts: by script, under the name of each question its answers in order, where the last one is given
            again and again; and whatever else a subclass takes from it.
        timers: how many timers may end.
    """

    def __init__(self, scripts: Sequence[Script], *, timers: int) -> None:
        self.settings = Settings(clock=ClockOrder.GLOBAL, timer_firings=timers)
        self.scripts: Sequence[Script] = frozen(scripts)
        self.script: Script = {}
        self.begun = False
        self._asked: dict[str, int] = {}

    def build(self, world: World) -> None:
        """Define the process."""
        self.world = world
        world.process(NAME, self._run, daemon=True)

    async def _run(self, process: Process) -> None:
        self.script = self.scripts[await process.choose(len(self.scripts), "script")]
        await self.live(process)

    async def live(self, process: Process) -> None:
        """Build the component, set ``begun``, and run it."""
        raise NotImplementedError

    async def answer(self, process: Process, question: str) -> str:
        """Return what the script answers to a question, now or later."""
        await self.halt_if_wrong()
        given = self.script.get(question, (OK,))
        number = self._asked[question] = self._asked.get(question, 0) + 1
        answer = str(given[min(number, len(given)) - 1])
        if answer == NEVER:
            await asyncio.get_running_loop().create_future()
        if answer.startswith(LATE):
            await process.point(f"answer to {question}")
        return answer.removeprefix(LATE)

    async def halt_if_wrong(self) -> None:
        """Go no further once something is wrong: a loop without a pause would not come to an end."""
        if self.wrong() is not None:
            await asyncio.get_running_loop().create_future()

    # What is looked at.

    def look(self) -> Hashable:
        """Return the present state of the component, as far as it is compared."""
        raise NotImplementedError

    def wrong(self) -> str | None:
        """Return what was seen to be wrong so far, beginning with the id of a claim."""
        raise NotImplementedError

    def wrong_after_a_step(self) -> str | None:
        """Return what is wrong when a step has ended."""
        raise NotImplementedError

    def wrong_at_the_end(self) -> str | None:
        """Return what is not done although nothing can happen any more."""
        return None

    def observe(self) -> Observation:
        """Return what is compared."""
        return {NAME: self.look() if self.begun else None}

    def on_step(self, before: Observation, after: Observation, label: str) -> str | None:
        """After each step: what was to be done is done, and nothing else."""
        del before, after, label
        return self.wrong_after_a_step() if self.begun else None

    def on_stutter(self, label: str) -> str | None:
        """Likewise."""
        del label
        return self.wrong_after_a_step() if self.begun else None

    def check_final(self) -> str | None:
        """Everything is done, unless the timers have ended before."""
        if not self.begun or self.world.firings_exhausted:
            return None
        return self.wrong_after_a_step() or self.wrong_at_the_end()

    def final(self) -> Hashable:
        """Return the script, and what has come of it."""
        return (self.script, self.look() if self.begun else None)
