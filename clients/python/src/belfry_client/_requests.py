"""The rules of requests and retries. They are the same for both clients, and do no I/O."""

from __future__ import annotations

import random
import re
import secrets
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta, timezone
from email.utils import parsedate_to_datetime
from enum import Enum
from json import JSONDecodeError
from typing import Any, Final
from urllib.parse import quote

from ._json import write_json, write_time
from .errors import ApiError, BelfryError, ConnectionError

_first_delay = 0.5
_max_delay = 8.0
_max_retry_after = 60.0
_units = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3_600.0, "d": 86_400.0, "w": 604_800.0}


class Unset(Enum):
    """The type of `UNSET`."""

    UNSET = "unset"


UNSET: Final = Unset.UNSET
"""A field that is left out of a request. None is sent as `null`."""

Time = datetime | str
"""A time: an aware datetime, or ISO 8601 text with `Z` or an offset."""
OneOrMore = str | int | Sequence[str] | Sequence[int]
"""Several values of one filter mean "or"; different filters mean "and"."""


def path(template: str, *parts: str) -> str:
    """Returns a path with escaped parts in place of `{}`. Refuses a part that would change the path, such as an empty id."""
    for part in parts:
        if not isinstance(part, str) or part in ("", ".", ".."):
            raise TypeError(f"An id must be text such as task_01jd..., not {part!r}.")
    return template.format(*(quote(part, safe="") for part in parts))


def to_json(fields: Mapping[str, Any]) -> bytes:
    """Returns the JSON of a body. It omits unset fields, and keeps `JsonText` unchanged. An error names its field."""
    members = [f"{write_json(name)}:{_text_of(name, value)}" for name, value in fields.items() if value is not UNSET]
    return ("{" + ",".join(members) + "}").encode()


def _text_of(name: str, value: Any) -> str:
    try:
        return write_json(value)
    except JSONDecodeError as error:
        raise ValueError(f"{name} is a JsonText, but not JSON: {error}") from error
    except (TypeError, ValueError) as error:
        kind = TypeError if isinstance(error, TypeError) else ValueError
        raise kind(f"{name}: {error}") from error


def new_task(fields: Mapping[str, Any], target_url: str, method: str, name: str | None) -> dict[str, Any]:
    """Returns the body of a new task or cron job, with the default name."""
    return {
        "name": name or _name_of(method, target_url),
        "url": target_url,
        "method": method.upper(),
        **in_zone(fields),
    }


def in_zone(fields: Mapping[str, Any]) -> Mapping[str, Any]:
    """Writes datetimes without a time zone as local times of the field `timezone`, if it is set."""
    if fields.get("timezone", UNSET) is UNSET:
        return fields
    return {name: _local_text(value) for name, value in fields.items()}


def _local_text(value: Any) -> Any:
    is_local = isinstance(value, datetime) and value.tzinfo is None
    return value.isoformat(timespec="milliseconds") if is_local else value


def chosen(ids: Sequence[str] | None, filter: Mapping[str, Any] | None, **more: Any) -> dict[str, Any]:
    """Returns the body that selects objects by their ids or by a filter. Filters have `since` and `until`."""
    if (ids is None) == (filter is None):
        raise TypeError("Pass either ids or filter.")
    more = {name: value for name, value in more.items() if value is not None}
    if filter is None:
        return {"ids": list(ids or []), **more}
    renamed = {{"since": "from", "until": "to"}.get(name, name): value for name, value in filter.items()}
    return {"filter": renamed, **more}


def time_after(delay: timedelta | str | Unset | None, execute_at: Time | Unset | None) -> Time:
    """Returns the time of a task. A delay counts from now by this machine's clock."""
    if (delay in (None, UNSET)) == (execute_at in (None, UNSET)):
        raise TypeError("Pass either execute_at or delay.")
    if isinstance(delay, (str, timedelta)):
        return datetime.now(timezone.utc) + (parse_duration(delay) if isinstance(delay, str) else delay)
    assert isinstance(execute_at, (str, datetime))
    return execute_at


def changed_time(delay: timedelta | str | Unset, execute_at: Time | Unset) -> Time | Unset:
    """Returns the new time of a task, if there is one."""
    return UNSET if delay is UNSET and execute_at is UNSET else time_after(delay, execute_at)


def batch_body(tasks: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Returns the body that creates many tasks."""
    bodies = []
    for task in tasks:
        fields = dict(task)
        url, method, name = fields.pop("target_url"), fields.pop("method", "POST"), fields.pop("name", None)
        fields["execute_at"] = time_after(fields.pop("delay", None), fields.get("execute_at"))
        bodies.append(new_task(fields, url, method, name))
    return {"tasks": bodies}


def parse_duration(text: str) -> timedelta:
    """Parses a duration such as `90s`, `10m` or `1h30m`."""
    parts = re.findall(r"(\d+(?:\.\d+)?)(ms|[smhdw])", text)
    if not parts or "".join(amount + unit for amount, unit in parts) != text:
        raise ValueError(f"{text} is not a duration such as 90s, 10m, 1h30m or 2d.")
    return timedelta(seconds=sum(float(amount) * _units[unit] for amount, unit in parts))


def to_query(filters: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Returns query parameters: one for each value of a list."""
    pairs = []
    for name, value in filters.items():
        for item in value if isinstance(value, (list, tuple)) else [value]:
            if item is not None:
                pairs.append((name, _query_text(item)))
    return pairs


def _query_text(value: Any) -> str:
    if isinstance(value, datetime):
        return write_time(value)
    return str(value).lower() if isinstance(value, bool) else str(value)


def new_idempotency_key() -> str:
    return secrets.token_hex(16)


def retry_delay(error: BelfryError, attempt: int, is_repeatable: bool) -> float | None:
    """Returns the delay before a retry in seconds; None when there must be none.

    A response of 429 means that nothing changed, so a retry is always safe. In other cases, such as a commit whose end a
    503 does not know, only idempotent requests are retried.
    """
    backoff: float = min(_first_delay * 2 ** (attempt - 1), _max_delay) * (0.5 + random.random() / 2)
    if isinstance(error, ConnectionError):
        return backoff if is_repeatable else None
    if not isinstance(error, ApiError):
        return None
    if error.code == "idempotency_in_progress":
        return backoff
    if error.status == 429 or (error.status == 503 and is_repeatable):
        asked = _retry_after(error.headers)
        return None if asked > _max_retry_after else max(asked, backoff)
    return backoff if is_repeatable and error.status in (500, 502, 504) else None


def _retry_after(headers: Mapping[str, str]) -> float:
    text = (headers.get("retry-after") or "").strip()
    if re.fullmatch(r"[0-9]+(\.[0-9]+)?", text):
        return float(text)
    try:
        return max(0.0, (parsedate_to_datetime(text) - datetime.now(timezone.utc)).total_seconds())
    except (TypeError, ValueError):
        return 0.0


def _name_of(method: str, url: str) -> str:
    return f"{method.upper()} {re.sub(r'[?#].*$', '', re.sub(r'^https?://', '', url, flags=re.I))}"[:200]
