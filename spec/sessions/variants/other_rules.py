"""The design without one of its rules, for proofs that must fail."""

from tidemark.spec.sessions import Sessions


class FencesBeforeTheList(Sessions):
    """Ended sessions are fenced first, then the sessions are listed (hazard 30)."""

    LISTS_FIRST = False
