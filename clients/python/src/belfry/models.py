"""The objects that Belfry returns. Their fields have the names of the HTTP API; times are aware datetimes in UTC.

A field that this version does not know is in `raw`. A field that the server does not return is None or empty.
"""

from __future__ import annotations

import types
import typing
from dataclasses import dataclass, field, fields, is_dataclass
from datetime import datetime
from functools import cache
from typing import Any, Generic, TypeVar

T = TypeVar("T")


@dataclass(frozen=True, kw_only=True)
class Retry:
    """When failed attempts are repeated: after `delays_ms`, or else after delays that grow by the other fields."""

    max_retries: int | None = None
    backoff: str | None = None
    base_delay_ms: int | None = None
    max_delay_ms: int | None = None
    delays_ms: list[int] = field(default_factory=list)


@dataclass(frozen=True, kw_only=True)
class LastRun:
    id: str
    status: str
    finished_at: datetime
    response_status: int | None = None
    error_code: str | None = None


@dataclass(frozen=True, kw_only=True)
class Blocked:
    """Why a task waits although it is due."""

    reason: str
    """`circuit_open`, `queue`, or `held` by the operator since a restore."""
    host: str | None = None
    queue: str | None = None
    since: datetime | None = None
    next_probe_at: datetime | None = None


@dataclass(frozen=True, kw_only=True)
class Callback:
    """A request that reports the outcome of a task."""

    url: str
    headers: dict[str, str] = field(default_factory=dict)
    retry: Retry | None = None
    timeout_ms: int | None = None


@dataclass(frozen=True, kw_only=True)
class Task:
    id: str
    workspace_id: str
    name: str
    source: str
    """`task`, `cron`, `event` or `callback`."""
    url: str
    method: str
    execute_at: datetime
    state: str
    """`pending`, `processing`, `retrying`, `success`, `dead` or `cancelled`."""
    attempts: int
    """Attempts started so far."""
    retry: Retry
    timeout_ms: int
    created_at: datetime
    updated_at: datetime
    headers: dict[str, str] = field(default_factory=dict)
    payload: Any = None
    payload_base64: str | None = None
    """The body in base64, when it is a raw body."""
    content_type: str | None = None
    queue: str | None = None
    expires_at: datetime | None = None
    """No attempt starts at this time or later."""
    key: str | None = None
    labels: list[str] = field(default_factory=list)
    on_success: Callback | None = None
    on_failure: Callback | None = None
    on_attempt: Callback | None = None
    callback_of: str | None = None
    """The task whose outcome this callback reports."""
    cronjob_id: str | None = None
    event_id: str | None = None
    topic: str | None = None
    state_reason: str | None = None
    blocked: Blocked | None = None
    next_retry_at: datetime | None = None
    last_run: LastRun | None = None
    replay_of: str | None = None
    finished_at: datetime | None = None
    raw: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)


@dataclass(frozen=True, kw_only=True)
class BatchError:
    code: str
    title: str
    status: int
    detail: str
    errors: list[Any] = field(default_factory=list)


@dataclass(frozen=True, kw_only=True)
class BatchResult:
    """The result of one task of a batch: either `task` or `error`."""

    index: int
    task: Task | None = None
    error: BatchError | None = None


@dataclass(frozen=True, kw_only=True)
class Note:
    """A run that a clock change has moved. `local` is its scheduled local time."""

    at: datetime
    local: str
    code: str


@dataclass(frozen=True, kw_only=True)
class CronPreview:
    description: str
    next_runs: list[datetime]
    notes: list[Note]


@dataclass(frozen=True, kw_only=True)
class CronJob:
    id: str
    workspace_id: str
    name: str
    url: str
    method: str
    cron: str
    timezone: str
    description: str
    overlap: str
    catch_up: str
    status: str
    """`active`, `paused` or `ended`."""
    retry: Retry
    timeout_ms: int
    created_at: datetime
    updated_at: datetime
    headers: dict[str, str] = field(default_factory=dict)
    payload: Any = None
    starts_at: datetime | None = None
    ends_at: datetime | None = None
    next_run_at: datetime | None = None
    next_runs: list[datetime] = field(default_factory=list)
    notes: list[Note] = field(default_factory=list)
    last_run: LastRun | None = None
    raw: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)


@dataclass(frozen=True, kw_only=True)
class PublishedEvent:
    id: str
    topic: str
    tasks: list[Task]
    """One for each target."""


@dataclass(frozen=True, kw_only=True)
class Subscription:
    id: str
    workspace_id: str
    topic: str
    url: str
    retry: Retry
    timeout_ms: int
    active: bool
    created_at: datetime
    updated_at: datetime
    headers: dict[str, str] = field(default_factory=dict)
    raw: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)


@dataclass(frozen=True, kw_only=True)
class RunError:
    code: str
    message: str


@dataclass(frozen=True, kw_only=True)
class RunRequest:
    url: str
    method: str
    headers: dict[str, str]
    body: str | None = None


@dataclass(frozen=True, kw_only=True)
class RunResponse:
    status: int
    headers: dict[str, Any]
    body: str
    body_bytes: int
    """Bytes received; `body` may be shorter."""
    body_truncated: bool
    body_encoding: str
    """`utf8` or `base64`."""


@dataclass(frozen=True, kw_only=True)
class RunTimings:
    """How long the steps of a call took, in milliseconds.

    A step is None when the call had none or did not complete it. A call on a kept-alive
    connection has only `first_byte_ms`.
    """

    dns_ms: int | None = None
    """The DNS lookup."""
    connect_ms: int | None = None
    """The TCP connect, or the tunnel through an egress proxy."""
    tls_ms: int | None = None
    """The TLS handshake."""
    first_byte_ms: int | None = None
    """From the first byte of the request to the first byte of the response."""


@dataclass(frozen=True, kw_only=True)
class Run:
    """An attempt of a task."""

    id: str
    workspace_id: str
    task_id: str
    task_name: str
    source: str
    attempt: int
    """1 for the first attempt."""
    status: str
    """`success` or `failed`."""
    scheduled_at: datetime
    started_at: datetime
    finished_at: datetime
    duration_ms: int
    lag_ms: int
    """The delay between the scheduled time and the start."""
    url: str
    method: str
    cronjob_id: str | None = None
    cronjob_timezone: str | None = None
    """None when the cron job has gone, and for other tasks."""
    topic: str | None = None
    response_status: int | None = None
    timings: RunTimings | None = None
    """None when nothing was measured, for example because the DNS lookup did not end."""
    error: RunError | None = None
    note: str | None = None
    """What was odd about a success, such as headers that could not be read."""
    request: RunRequest | None = None
    """The full request. Lists leave it out."""
    response: RunResponse | None = None
    """The response. Lists leave it out."""
    raw: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)


@dataclass(frozen=True, kw_only=True)
class TaskOperation:
    """A cancel or stop of many tasks, in the background."""

    id: str
    workspace_id: str
    action: str
    status: str
    """`running`, `done` or `cancelled`."""
    total: int
    ended: int
    created_at: datetime
    updated_at: datetime
    finished_at: datetime | None = None


@dataclass(frozen=True, kw_only=True)
class EndedTasks:
    """How many tasks were cancelled or stopped at once. `operation` handles the others."""

    cancelled: int = 0
    stopped: int = 0
    operation: TaskOperation | None = None


@dataclass(frozen=True, kw_only=True)
class RateLimit:
    count: int
    period_ms: int


@dataclass(frozen=True, kw_only=True)
class Queue:
    """A queue, with what it contains now."""

    name: str
    ordered: bool
    waiting: int
    """Tasks that are due and not started; counted up to 10,000."""
    in_flight: int
    created_at: datetime
    updated_at: datetime
    max_concurrent: int | None = None
    rate_limit: RateLimit | None = None
    paused_at: datetime | None = None
    oldest_due_ms: int | None = None
    raw: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)


@dataclass(frozen=True, kw_only=True)
class Operation:
    """A replay or discard of many dead letters, in the background."""

    id: str
    workspace_id: str
    action: str
    status: str
    """`running`, `done` or `cancelled`."""
    total: int
    settled: int
    created_at: datetime
    updated_at: datetime
    finished_at: datetime | None = None
    per_second: int | None = None


@dataclass(frozen=True, kw_only=True)
class Settled:
    """How many dead letters were replayed or discarded at once. `operation` handles the others."""

    replayed: int = 0
    discarded: int = 0
    operation: Operation | None = None


@dataclass(frozen=True, kw_only=True)
class Workspace:
    id: str
    organization_id: str
    name: str
    created_at: datetime
    updated_at: datetime
    raw: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)


@dataclass(frozen=True, kw_only=True)
class User:
    id: str
    email: str
    name: str


@dataclass(frozen=True, kw_only=True)
class WorkspaceMember:
    user: User
    role: str
    added_at: datetime


@dataclass(frozen=True, kw_only=True)
class Member:
    user: User
    role: str
    joined_at: datetime
    workspace_role: str | None = None


@dataclass(frozen=True, kw_only=True)
class Secret:
    """A secret, which requests refer to as `{{ secrets.NAME }}`. Its value is never returned."""

    name: str
    created_at: datetime
    updated_at: datetime
    allowed_hosts: list[str] | None = None


@dataclass(frozen=True, kw_only=True)
class SigningKey:
    public_key: str
    expires_at: datetime | None = None


@dataclass(frozen=True, kw_only=True)
class SigningSecret:
    id: str
    workspace_id: str
    secret: str
    created_at: datetime
    public_key: str | None = None
    expires_at: datetime | None = None


@dataclass(frozen=True, kw_only=True)
class Organization:
    """An organization. With an API key, it has no `policy` and no `usage`."""

    id: str
    name: str
    slug: str
    tier: str
    policy: dict[str, bool] | None = None
    max_api_key_days: int | None = None
    require_second_factor: bool | None = None
    usage: dict[str, Any] | None = None
    created_at: datetime | None = None
    updated_at: datetime | None = None
    raw: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)


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
    given = {name: _decode(hint, value[name]) for name, hint in hints.items() if value.get(name) is not None}
    if "raw" in hints:
        given["raw"] = value
    return typing.cast(Any, kind)(**given)


@cache
def _hints_of(kind: Any) -> dict[str, Any]:
    hints = typing.get_type_hints(kind)
    return {each.name: hints[each.name] for each in fields(kind)}
