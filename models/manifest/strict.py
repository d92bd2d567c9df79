"""The base of all that is read from a manifest."""

from pydantic import BaseModel, ConfigDict


class Strict(BaseModel):
    """Frozen, and an unknown key is an error: a typing mistake must not silently drop a pin."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)
