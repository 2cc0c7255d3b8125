"""Configurations as users write them: what is wrong with one is told in one line, with the key, the value and what was meant."""

import re
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from distmcts.errors import DistmctsError, InputError, unknown

Model = TypeVar("Model", bound=BaseModel)


class Section(BaseModel):
    """A configuration, or a part of one: no unknown keys, and never changed."""

    model_config = ConfigDict(extra="forbid", frozen=True)


def validated(model: type[Model], given: dict[str, Any], source: str = "", kind: str = "key") -> Model:
    """A configuration from what was given; raises InputError with one line that names the source, if there is one, and the key.

    kind: what a key is called.
    """
    place = f"{source}: " if source else ""
    try:
        return model(**given)
    except ValidationError as error:
        raise InputError(place + _explain(error.errors()[0], model, kind)) from None
    except TypeError:
        raise InputError(f"{place}{kind}s must be names") from None


def _explain(error: Any, model: type[BaseModel], kind: str) -> str:
    place = [str(part) for part in error["loc"]]
    key = ".".join(place)
    if error["type"] == "extra_forbidden":
        return str(unknown(kind, key, _known_keys(model, place[:-1])))
    if error["type"] == "missing":
        return f"{key!r} is missing"
    if error["type"] == "literal_error":
        return str(unknown(key, error["input"], re.findall(r"'([^']*)'", error["ctx"]["expected"])))
    own = error.get("ctx", {}).get("error")
    # Errors of our own name what they are about; a value that stands for a whole section says nothing more.
    if isinstance(own, DistmctsError) and (key in str(own) or not isinstance(error["input"], (str, int, float))):
        return str(own)
    message = error["msg"].removeprefix("Value error, ")
    return f"{key}={error['input']!r}: {message[0].lower()}{message[1:]}"


def _known_keys(model: Any, folders: list[str]) -> list[str]:
    for folder in folders:
        model = model.model_fields[folder].annotation
    return [".".join([*folders, name]) for name in model.model_fields]
