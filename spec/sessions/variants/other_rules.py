"""The design without one of its rules, for proofs that must fail."""

from tidemark.spec.sessions import Sessions


class FencesBeforeTheList(Sessions):
    """What is over is fenced first, then the sessions are listed (hazard 30)."""

    LISTS_FIRST = False
