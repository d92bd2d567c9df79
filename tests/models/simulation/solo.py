"""Programs of one process."""

from tidemark.models.simulation import Process, Program, World


class Solo(Program):
    """One process `p`, which runs `main`; the outcome is its log."""

    restarts = True

    def __init__(self) -> None:
        self.log: list[object] = []

    def build(self, world: World) -> None:
        world.process("p", self.main, restarts=self.restarts)

    async def main(self, process: Process) -> None:
        raise NotImplementedError

    def final(self) -> object:
        return tuple(self.log)
