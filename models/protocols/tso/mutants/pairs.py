"""Wrong protocols beside those of ``spec/tso/variants/elections.py``."""

from tidemark.models.mutation.declared import mutant
from tidemark.spec.tso import Tso
from tidemark.spec.tso.variants import elections
from tidemark.spec.tso.variants.elections import LateSaves


@mutant(killer="tso.unique", source="H43", instance="tso-short")
@mutant(killer="tso.saved_never_goes_back", source="H43", instance="tso-short", name="as-coded-saved")
class AsCoded(Tso):
    """A deposed leader that can save: no leader condition, a plain put, no lease rule (hazard 43)."""

    CONDITIONAL = False
    RAISES = False
    LEASE_RULE = False


@mutant(killer="tso.saved_never_goes_back", source="H43: with the lease rule", instance="tso-small")
class UnconditionalPlainPut(Tso):
    """No leader condition and a plain put: the lease rule alone (hazard 43)."""

    CONDITIONAL = False
    RAISES = False


@mutant(killer="tso.issued_below_saved", source="facts 2.2, 2.4: a save that timed out", instance="tso-small")
class LateSavesPlainPut(LateSaves):
    """The same with a store that takes whatever arrives from the leader."""

    RAISES = False


@mutant(killer="tso.ordered", source="H42; H43: with a leader condition", instance="tso-short")
class EarlyLeaseEnd(elections.EarlyLeaseEnd):
    """The lease ends while its holder still serves (hazards 42, 43)."""
