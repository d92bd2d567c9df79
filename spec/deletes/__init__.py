"""Deletes: level-zero segments of one virtual channel, their checkpoint, and the replay of a load."""

from tidemark.spec.deletes.proof import Deletes as Deletes
