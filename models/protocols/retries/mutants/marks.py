"""Claims with wrong marks: what must be found of them is said in the manifest."""

from tidemark.spec.language import invariant
from tidemark.spec.retries import Retries


class WrongMarks(Retries):
    """A property counts as a frame condition."""

    @invariant(frame=True)
    def a_retry_succeeds_when_the_schema_is_settled(s):
        return super().a_retry_succeeds_when_the_schema_is_settled()
