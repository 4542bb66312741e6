"""JSON in which numbers keep all their digits."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from datetime import datetime
from decimal import Decimal, InvalidOperation
from typing import Any


class JsonText(str):
    """JSON text that Belfry sends byte for byte, such as `JsonText('{"total": 1.10}')`."""


def parse_json(text: str | bytes) -> Any:
    """Parses JSON. A number that a float would change becomes a `Decimal`; whole numbers are `int`."""
    return json.loads(text, parse_float=_fraction, parse_int=_whole)


def write_json(value: Any) -> str:
    """Returns a value as JSON, with all digits of each `Decimal`. A `JsonText` stays as it is."""
    if isinstance(value, JsonText):
        parse_json(value)
        return str(value)
    if isinstance(value, str):
        return _surrogate.sub(lambda found: f"\\u{ord(found[0]):04x}", json.dumps(value, ensure_ascii=False))
    if isinstance(value, datetime):
        return json.dumps(write_time(value))
    if isinstance(value, Decimal):
        if not value.is_finite():
            raise ValueError(f"{value} is not a number of JSON.")
        return str(value)
    if isinstance(value, (list, tuple)):
        return "[" + ",".join(write_json(item) for item in value) + "]"
    if isinstance(value, Mapping):
        return "{" + ",".join(f"{write_json(str(name))}:{write_json(item)}" for name, item in value.items()) + "}"
    return json.dumps(value, allow_nan=False)


def write_time(time: datetime) -> str:
    """Returns a time as ISO 8601 text. A time without a time zone is refused."""
    if time.tzinfo is None:
        raise ValueError("A datetime requires a time zone, such as datetime.now(timezone.utc).")
    return time.isoformat(timespec="milliseconds")


# UTF-8 has no half of a surrogate pair.
_surrogate = re.compile("[\ud800-\udfff]")


def _fraction(text: str) -> float | Decimal:
    nearest = float(text)
    try:
        exact = Decimal(text)
    except InvalidOperation:
        return nearest  # an exponent of more than 18 digits
    return nearest if Decimal(repr(nearest)) == exact else exact


def _whole(text: str) -> int | Decimal:
    try:
        return int(text)
    except ValueError:
        return Decimal(text)  # Python limits the digits of a conversion to int, by default to 4300
