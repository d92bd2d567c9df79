"""Claims with wrong marks: what must be found of them is said in the manifest."""

from tidemark.spec.language import invariant, transition_invariant
from tidemark.spec.tso import Tso


class WrongMarks(Tso):
    """A frame condition counts as a property, or a property as a frame condition."""

    @invariant()
    def one_server_runs(s):
        return super().one_server_runs()

    @transition_invariant()
    def saved_never_goes_back(before, after):
        return super().saved_never_goes_back(after)
