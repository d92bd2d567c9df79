"""The digest of what a verdict rests on: a traced protocol and an instance of it; equal in every process."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from tidemark.spec.language.spec import Spec

if TYPE_CHECKING:
    from tidemark.models.instance import Instance

LENGTH = 16
"""Hexadecimal digits of a digest."""


def digest_of(*parts: object) -> str:
    """Digest of values by their text. They hold no set and no object whose text is its address."""
    return hashlib.sha256(repr(parts).encode()).hexdigest()[:LENGTH]


def spec_digest(spec: Spec) -> str:
    """Digest of what decides the meaning of a traced protocol: words about it and places in its source are
    left out.
    """
    return digest_of(
        spec.constants,
        spec.variables,
        sorted(spec.initial.items()),
        sorted(spec.options.items()),
        [(a.name, a.params, [guard.expr for guard in a.guards], a.updates, a.fairness) for a in spec.actions],
        [(p.id, p.kind, p.expr, p.params, p.premise, p.after, p.without) for p in spec.properties],
        [(p.expr, p.params) for p in spec.assumptions],
        spec.initially,
    )


def instance_digest(instance: Instance) -> str:
    """Digest of what decides the states and the properties of an instance. Raises BadInstance, SpecError."""
    return digest_of(spec_digest(instance.spec), instance.bounds, instance.constants)
