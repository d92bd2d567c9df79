"""A cell: one word of memory that processes share through the world. Each access is one step."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from tidemark.models.simulation.world.world import World

T = TypeVar("T")


class Cell(Generic[T]):
    """A shared word with atomic operations. A compare-and-swap that fails only reads."""

    def __init__(self, world: "World", name: str, value: T) -> None:
        self._world = world
        self._name = name
        self._bit = world.interner.bit(f"cell {name}")
        self.value = value

    async def load(self) -> T:
        """Return the value."""

        def effect() -> T:
            self._world.touch(reads=self._bit)
            return self.value

        return await self._world.operation(f"load {self._name}", effect)

    async def store(self, value: T) -> None:
        """Replace the value."""

        def effect() -> None:
            self._world.touch(writes=self._bit)
            self.value = value

        await self._world.operation(f"store {self._name}", effect)

    async def compare_and_swap(self, expected: T, value: T) -> bool:
        """Replace the value if it is the expected one. Return whether it was."""

        def effect() -> bool:
            if self.value != expected:
                self._world.touch(reads=self._bit)
                return False
            self._world.touch(writes=self._bit)
            self.value = value
            return True

        return await self._world.operation(f"compare-and-swap {self._name}", effect)

    async def update(self, change: Callable[[T], T]) -> T:
        """Replace the value by a function of itself, in one step. Return the value before."""

        def effect() -> T:
            self._world.touch(writes=self._bit)
            before = self.value
            self.value = change(before)
            return before

        return await self._world.operation(f"update {self._name}", effect)
