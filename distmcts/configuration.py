"""Configurations as users write them: what is wrong with one is said in one line, with the key, the value and what was meant."""

import re
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from distmcts.errors import DistmctsError, InputError, unknown

Model = TypeVar("Model", bound=BaseModel)


def validated(model: type[Model], given: dict[str, Any], source: str) -> Model:
    """A configuration from what was given; raises InputError with one line that names the source and the key."""
    try:
        return model(**given)
    except ValidationError as error:
        raise InputError(f"{source}: {_explain(error.errors()[0], model)}") from None
    except TypeError:
        raise InputError(f"{source}: keys must be names") from None


def _explain(error: Any, model: type[BaseModel]) -> str:
    place = [str(part) for part in error["loc"]]
    key = ".".join(place)
    if error["type"] == "extra_forbidden":
        return str(unknown("key", key, _known_keys(model, place[:-1])))
    if error["type"] == "missing":
        return f"{key!r} is missing"
    if error["type"] == "literal_error":
        return str(unknown(key, error["input"], re.findall(r"'([^']*)'", error["ctx"]["expected"])))
    if isinstance(error.get("ctx", {}).get("error"), DistmctsError):
        return str(error["ctx"]["error"])
    message = error["msg"].removeprefix("Value error, ")
    return f"{key}={error['input']!r}: {message[0].lower()}{message[1:]}"


def _known_keys(model: Any, folders: list[str]) -> list[str]:
    for folder in folders:
        model = model.model_fields[folder].annotation
    return [".".join([*folders, name]) for name in model.model_fields]
