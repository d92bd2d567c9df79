"""Ways of searching that would leave out what they must not: refused before the search, with what to do."""

from tidemark.checks.interleave.options import Options, Reduction
from tidemark.checks.verdicts.errors import UnsoundCombinationError
from tidemark.models.simulation import Order, Program, ProgramRef


def refuse_unsound(program: ProgramRef, options: Options) -> None:
    """Refuse to merge the states of a program that does not tell them apart.

    Raises:
        UnsoundCombinationError: the program declares no state, or keeps a queue of callbacks, which no
            declared state shows.
    """
    if options.histories:
        _refuse_histories(program, options)
    if options.reduction is not Reduction.STATES:
        return
    fresh = program.load()()
    if type(fresh).declared is Program.declared:
        raise UnsoundCombinationError(
            f"{program.text()} declares no state, so that equal states cannot be told from different ones",
            remedy="override `declared` with all data that influence the future, or use another reduction: "
            f"{', '.join(repr(other.value) for other in Reduction if other is not Reduction.STATES)}",
        )
    if fresh.settings.order is not Order.ATOMIC:
        raise UnsoundCombinationError(
            f"{program.text()} runs in {fresh.settings.order.value} order, in which callbacks wait in a "
            "queue that no declared state shows",
            remedy="merge states in atomic order only, or use another reduction",
        )


def _refuse_histories(program: ProgramRef, options: Options) -> None:
    settings = program.load()().settings
    if not settings.histories or settings.order is Order.ATOMIC:
        raise UnsoundCombinationError(
            f"{program.text()} does not record the histories of its processes",
            remedy="merge histories of coroutine functions only: explore_coroutine(main, merge=True)",
        )
    if options.reduction is not Reduction.NONE:
        raise UnsoundCombinationError(
            f"histories are merged, and {options.reduction.value!r} leaves out executions",
            remedy="merge histories without another reduction: Options(reduction='none', histories=True)",
        )
