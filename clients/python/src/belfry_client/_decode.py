"""Makes the objects of `models` from JSON."""

from __future__ import annotations

import types
import typing
from dataclasses import dataclass, fields, is_dataclass
from datetime import datetime
from functools import cache
from typing import Any, Generic, TypeVar

T = TypeVar("T")


@dataclass(frozen=True)
class Page(Generic[T]):
    data: list[T]
    next_cursor: str | None
    """None on the last page."""


def decode(kind: type[T], value: Any) -> T:
    """Returns the object of a JSON value. Fields that the class does not have are only in `raw`."""
    return typing.cast(T, _decode(kind, value))


def _decode(kind: Any, value: Any) -> Any:
    if value is None:
        return None
    if isinstance(kind, types.UnionType) or typing.get_origin(kind) is typing.Union:
        return _decode(next(option for option in typing.get_args(kind) if option is not type(None)), value)
    if typing.get_origin(kind) is list:
        return [_decode(typing.get_args(kind)[0], item) for item in value]
    if kind is datetime:
        return datetime.fromisoformat(value.replace("Z", "+00:00"))
    if not (isinstance(kind, type) and is_dataclass(kind)):
        return value
    hints = _hints_of(kind)
    given = {}
    for name, hint in hints.items():
        member = value.get(name, value.get(_renamed.get(name, name)))
        given[name] = _empty(hint) if member is None else _decode(hint, member)
    return typing.cast(Any, kind)(**{**given, "raw": value})


# Fields whose names are words of Python.
_renamed = {"since": "from", "until": "to"}


def _empty(hint: Any) -> Any:
    kind = typing.get_origin(hint)
    return kind() if kind in (list, dict) else None


@cache
def _hints_of(kind: Any) -> dict[str, Any]:
    hints = typing.get_type_hints(kind)
    return {each.name: hints[each.name] for each in fields(kind)}
