"""Lemmas that nobody wrote down: candidates from templates, kept if reachable states and induction allow."""
