"""Functions for tests of the time limit: one that does not end, and one that does."""


def spin() -> None:
    """Never return."""
    while True:
        step()


def step() -> int:
    """Return soon."""
    return sum(range(50))
