"""Errors of proofs."""


class UnprovableError(ValueError):
    """An expression without meaning for "any size"; ``remedy``: what to write instead. The judge that meets
    it answers ``inconclusive``; it never skips the expression.
    """

    def __init__(self, message: str, *, remedy: str) -> None:
        super().__init__(f"{message}. {remedy}")
        self.remedy = remedy
