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
    fresh = program.load()()
    if options.live:
        _refuse_live(program, fresh, options)
    if options.reduction is not Reduction.STATES:
        return
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


def refuse_delays(program: ProgramRef, options: Options) -> None:
    """Refuse what a bound on delays cannot be combined with.

    Raises:
        UnsoundCombinationError: a reduction by footprints, or endless runs.
    """
    if options.reduction not in (Reduction.NONE, Reduction.STATES):
        raise UnsoundCombinationError(
            f"{program.text()}: {options.reduction.value!r} runs one of several equivalent orders, and "
            "that one may have more delays than another",
            remedy="use reduction = 'none', or 'states', with delays",
        )
    if options.live:
        raise UnsoundCombinationError(
            f"{program.text()}: a bound on delays cuts the graph in which endless runs are looked for",
            remedy="leave the bound out, or the claims under 'live'",
        )


def _refuse_live(program: ProgramRef, fresh: Program, options: Options) -> None:
    if options.reduction is not Reduction.STATES or options.histories:
        raise UnsoundCombinationError(
            f"{program.text()}: endless runs are looked for in the graph of the states, and "
            f"{options.reduction.value!r} does not keep it",
            remedy="use reduction = 'states', on one core",
        )
    if fresh.settings.timer_firings is not None:
        raise UnsoundCombinationError(
            f"{program.text()} ends after {fresh.settings.timer_firings} firings of timers: it has no run "
            "without an end",
            remedy="let timers fire without a limit: Settings(timer_firings=None)",
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
