"""What all models of the contract share."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

VERSION = 2
Natural = Annotated[int, Field(ge=0)]
Positive = Annotated[int, Field(ge=1)]
Uint32 = Annotated[int, Field(ge=0, lt=2**32)]


class Model(BaseModel):
    """Strict base: unknown keys are errors, instances are frozen."""

    # built when first used: a command needs few of all models
    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)
