"""Claims with wrong marks: what must be found of them is said in the manifest."""

from tidemark.spec.language import transition_invariant
from tidemark.spec.timetick import TimeTick


class WrongMarks(TimeTick):
    """A frame condition counts as a property, or a property as a frame condition."""

    @transition_invariant(frame=True)
    def fenced_is_final(before, after):
        return super().fenced_is_final(after)

    @transition_invariant()
    def reports_are_used_once(before, after):
        return super().reports_are_used_once(after)
