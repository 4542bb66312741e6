"""The objects that Belfry returns. `npm run clients` makes this file from the operations of the API.

Fields have the names of the HTTP API; times are aware datetimes in UTC. A field that this version does not know is in
`raw`. A field that the server does not return is None or empty.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from ._decode import Page as Page
from ._decode import decode as decode


@dataclass(frozen=True, kw_only=True)
class Task:
    id: str
    workspace_id: str
    name: str
    source: str
    """The origin of the task."""
    cronjob_id: str | None
    event_id: str | None
    topic: str | None
    url: str
    method: str
    """One of `GET`, `POST`, `PUT`, `PATCH`, `DELETE`."""
    headers: dict[str, str]
    payload: Any
    """Any JSON value, unchanged."""
    payload_base64: str | None
    """The body in base64, when it was given so; `payload` is then null."""
    content_type: str | None
    """The content type of `payload_base64`."""
    retry: Retry
    """Delays that grow; or `delays_ms` alone, the exact delay before each retry."""
    timeout_ms: int
    """In milliseconds."""
    on_success: Callback | None
    """Called with the task and the run when the task succeeds."""
    on_failure: Callback | None
    """Called when the task is dead."""
    on_attempt: Callback | None
    """Called after each attempt."""
    queue: str | None
    """The name of its queue."""
    connection: str | None
    """The name of the connection that authenticates its calls."""
    execute_at: datetime
    local_time: str | None
    """The time in `timezone`, with its offset. Only in the answer to a request with a timezone."""
    timezone: str | None
    """The zone of the request."""
    state: str
    """One of `pending`, `processing`, `retrying`, `success`, `dead`, `cancelled`."""
    state_reason: str | None
    """Why it ended without the outcome of an attempt."""
    attempts: int
    """Attempts started so far."""
    blocked: Blocked | None
    """Why the task waits although it is due. Null in lists of dead letters and after a change."""
    expires_at: datetime | None
    """No attempt starts at this time or later."""
    key: str | None
    """Unique among the pending tasks of the workspace."""
    labels: list[str]
    next_retry_at: datetime | None
    """Set while the state is `retrying`."""
    last_run: LastRun | None
    callback_of: str | None
    """The task whose outcome this callback reports."""
    replay_of: str | None
    created_by: str | None
    """The user or the API key that created it. Null: Belfry, or before this was recorded."""
    updated_by: str | None
    """The user or the API key that changed it last."""
    created_at: datetime
    updated_at: datetime
    finished_at: datetime | None
    raw: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)


@dataclass(frozen=True, kw_only=True)
class TaskBatch:
    data: list[BatchResult]
    raw: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)


@dataclass(frozen=True, kw_only=True)
class TaskCount:
    count: int
    is_capped: bool
    """Whether there may be more: at most 100,000 tasks are checked, and 10,000 counted."""
    raw: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)


@dataclass(frozen=True, kw_only=True)
class CancelledTasks:
    cancelled: int
    operation: TaskOperation | None
    """Set when there are too many for one request; they follow in the background."""
    raw: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)


@dataclass(frozen=True, kw_only=True)
class StoppedTasks:
    stopped: int
    operation: TaskOperation | None
    """Set when there are too many for one request; they follow in the background."""
    raw: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)


@dataclass(frozen=True, kw_only=True)
class TaskOperation:
    id: str
    workspace_id: str
    action: str
    """One of `cancel`, `stop`."""
    filter: TaskOperationFilter
    status: str
    """One of `running`, `done`, `cancelled`."""
    total: int
    """Tasks that matched when it started, of the first 100,000 in the workspace; never less than `ended`."""
    ended: int
    """Tasks cancelled or stopped so far."""
    created_at: datetime
    updated_at: datetime
    finished_at: datetime | None
    raw: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)


@dataclass(frozen=True, kw_only=True)
class ReplayedDeadLetters:
    replayed: int
    operation: DeadLetterOperation | None
    """Set when there are too many for one request; the rest follows in the background."""
    raw: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)


@dataclass(frozen=True, kw_only=True)
class DiscardedDeadLetters:
    discarded: int
    operation: DeadLetterOperation | None
    """Set when there are too many for one request; the rest follows in the background."""
    raw: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)


@dataclass(frozen=True, kw_only=True)
class DeadLetterOperation:
    id: str
    workspace_id: str
    action: str
    """One of `replay`, `discard`."""
    filter: DeadLetterOperationFilter
    per_second: int | None
    """How many of its replays are due per second. Null: all at once."""
    status: str
    """One of `running`, `done`, `cancelled`."""
    total: int
    """Dead letters that matched when it started, of the first 100,000 in the workspace; never less than `settled`."""
    settled: int
    """Dead letters replayed or discarded so far."""
    created_at: datetime
    updated_at: datetime
    finished_at: datetime | None
    raw: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)


@dataclass(frozen=True, kw_only=True)
class BulkOperation:
    id: str
    workspace_id: str
    action: str
    """One of `cancel`, `stop`, `replay`, `discard`."""
    ids: list[str] | None
    """The chosen tasks. Null: all that match the filter."""
    filter: BulkOperationFilter
    per_second: int | None
    """How many of its replays are due per second. Null: all at once."""
    status: str
    """One of `running`, `done`, `cancelled`."""
    total: int
    """Tasks that matched when it started, of the first 100,000 in the workspace; never less than `done`."""
    done: int
    """Tasks cancelled, stopped, replayed or discarded so far."""
    created_at: datetime
    updated_at: datetime
    finished_at: datetime | None
    raw: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)


@dataclass(frozen=True, kw_only=True)
class CronJob:
    id: str
    workspace_id: str
    key: str | None
    """The key that its creator chose."""
    name: str
    cron: str
    timezone: str
    description: str
    """The schedule in English."""
    url: str
    method: str
    """One of `GET`, `POST`, `PUT`, `PATCH`, `DELETE`."""
    headers: dict[str, str]
    payload: Any
    """Any JSON value, unchanged."""
    payload_base64: str | None
    """The body in base64, when it was given so; `payload` is then null."""
    content_type: str | None
    """The content type of `payload_base64`."""
    retry: Retry
    """Delays that grow; or `delays_ms` alone, the exact delay before each retry."""
    timeout_ms: int
    """In milliseconds."""
    on_success: Callback | None
    """Called with the task and the run when the task succeeds."""
    on_failure: Callback | None
    """Called when the task is dead."""
    on_attempt: Callback | None
    """Called after each attempt."""
    queue: str | None
    """The name of its queue."""
    connection: str | None
    """The name of the connection that authenticates its calls."""
    overlap: str
    """One of `allow`, `skip`."""
    catch_up: str
    """One of `latest`, `all`, `none`."""
    starts_at: datetime | None
    ends_at: datetime | None
    """No run starts at this time or later."""
    max_age_ms: int | None
    """No attempt starts this long after the time of the task, in milliseconds."""
    labels: list[str]
    """The labels of its tasks."""
    status: str
    """One of `active`, `paused`, `ended`."""
    next_run_at: datetime | None
    """The first of `next_runs`; null when paused or ended."""
    next_runs: list[datetime]
    notes: list[RunTimeNote]
    """The runs that a clock change affects."""
    last_run: LastRun | None
    created_by: str | None
    """The user or the API key that created it. Null: Belfry, or before this was recorded."""
    updated_by: str | None
    """The user or the API key that changed it last."""
    created_at: datetime
    updated_at: datetime
    raw: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)


@dataclass(frozen=True, kw_only=True)
class CronPreview:
    description: str
    """The schedule in English."""
    next_runs: list[datetime]
    notes: list[RunTimeNote]
    """The runs that a clock change affects."""
    raw: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)


@dataclass(frozen=True, kw_only=True)
class Run:
    id: str
    workspace_id: str
    task_id: str
    task_name: str
    source: str
    """One of `task`, `cron`, `event`, `callback`."""
    cronjob_id: str | None
    cronjob_timezone: str | None
    """The time zone of the cron job: the present one, or that of the day when the run moved to object storage. Null when the cron job has gone, and for other tasks."""
    topic: str | None
    attempt: int
    """1 for the first attempt."""
    status: str
    """One of `success`, `failed`."""
    scheduled_at: datetime
    started_at: datetime
    finished_at: datetime
    duration_ms: int
    """In milliseconds."""
    lag_ms: int
    """The delay between the scheduled time and the start."""
    waited_for: str | None
    """What a late start waited for, for most of the time. Null when the start was less than a second late, or when the reason is not known."""
    timings: RunTimings | None
    """How long the steps of the call took, in milliseconds. A step is null when the call had none or did not complete it; a kept-alive connection has only `first_byte_ms`. Null when the DNS lookup did not end, when nothing was sent, or when the call was repeated with a new access token."""
    url: str
    method: str
    response_status: int | None
    error: RunError | None
    note: str | None
    """What was odd about a success, such as headers that could not be read. Null for a failure, whose `error` says it."""
    raw: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)


@dataclass(frozen=True, kw_only=True)
class RunFailures:
    data: list[FailureGroup]
    """The groups with the most runs first; at most 50."""
    counted: int
    """The number of runs that the groups were made from."""
    is_partial: bool
    """There may be more failed runs: the groups are made from the latest ones, without those in object storage."""
    raw: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)


@dataclass(frozen=True, kw_only=True)
class RunCounts:
    since: datetime
    """The start of the first bucket, at most 32 days ago."""
    until: datetime
    """The end of the last bucket."""
    bucket_ms: int
    """In milliseconds."""
    buckets: list[RunCountsBuckets]
    """At most 61 buckets."""
    raw: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)


@dataclass(frozen=True, kw_only=True)
class RunDetail:
    id: str
    workspace_id: str
    task_id: str
    task_name: str
    source: str
    """One of `task`, `cron`, `event`, `callback`."""
    cronjob_id: str | None
    cronjob_timezone: str | None
    """The time zone of the cron job: the present one, or that of the day when the run moved to object storage. Null when the cron job has gone, and for other tasks."""
    topic: str | None
    attempt: int
    """1 for the first attempt."""
    status: str
    """One of `success`, `failed`."""
    scheduled_at: datetime
    started_at: datetime
    finished_at: datetime
    duration_ms: int
    """In milliseconds."""
    lag_ms: int
    """The delay between the scheduled time and the start."""
    waited_for: str | None
    """What a late start waited for, for most of the time. Null when the start was less than a second late, or when the reason is not known."""
    timings: RunTimings | None
    """How long the steps of the call took, in milliseconds. A step is null when the call had none or did not complete it; a kept-alive connection has only `first_byte_ms`. Null when the DNS lookup did not end, when nothing was sent, or when the call was repeated with a new access token."""
    url: str
    method: str
    response_status: int | None
    error: RunError | None
    note: str | None
    """What was odd about a success, such as headers that could not be read. Null for a failure, whose `error` says it."""
    request: RunRequest
    response: RunResponse | None
    """Null when there was no response."""
    raw: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)


@dataclass(frozen=True, kw_only=True)
class Hosts:
    data: list[Host]
    since: datetime
    """Attempts are counted from this time on: the last hour, or the latest 5,000 attempts."""
    omitted: int
    """Hosts beyond the first 200."""
    waiting_is_capped: bool
    """Only the first 10,000 waiting tasks were counted."""
    max_in_flight_per_host: int
    """How many calls to one host may be in flight at once, from all dispatchers and workspaces."""
    raw: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)


@dataclass(frozen=True, kw_only=True)
class ResetHost:
    dispatchers: int
    """The dispatchers that close the breaker, within two seconds."""
    raw: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)


@dataclass(frozen=True, kw_only=True)
class Status:
    dispatchers: StatusDispatchers
    """They make the calls."""
    schedulers: StatusSchedulers
    """They run cron jobs and statistics."""
    queue: str
    """`down`: Redis does not answer, and dispatchers read due tasks from PostgreSQL. `none`: no Redis is used."""
    raw: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)


@dataclass(frozen=True, kw_only=True)
class Queue:
    name: str
    max_concurrent: int | None
    """Attempts in flight at a time, over all dispatchers."""
    rate_limit: RateLimit | None
    ordered: bool
    """One task at a time, in the order of `execute_at`, then creation. The next task waits until the one before is final."""
    paused_at: datetime | None
    """Since when no task starts; null unless it is paused."""
    waiting: int
    """Tasks that are due and not started; counted up to 10,000."""
    in_flight: int
    """Attempts in flight."""
    oldest_due_ms: int | None
    """For how long the first waiting task has been due."""
    created_at: datetime
    updated_at: datetime
    raw: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)


@dataclass(frozen=True, kw_only=True)
class Subscription:
    id: str
    workspace_id: str
    key: str | None
    """The key that its creator chose."""
    topic: str
    filter: list[Condition]
    """Conditions on members of the payload. Only events for which all of them hold are sent; a missing member satisfies only `ne` and `exists: false`."""
    url: str
    headers: dict[str, str]
    retry: Retry
    """Delays that grow; or `delays_ms` alone, the exact delay before each retry."""
    timeout_ms: int
    """In milliseconds."""
    queue: str | None
    """The name of its queue."""
    connection: str | None
    """The name of the connection that authenticates its calls."""
    on_success: Callback | None
    """Called with the task and the run when the task succeeds."""
    on_failure: Callback | None
    """Called when the task is dead."""
    on_attempt: Callback | None
    """Called after each attempt."""
    max_age_ms: int | None
    """No attempt starts this long after the time of the task, in milliseconds."""
    labels: list[str]
    """The labels of its tasks."""
    active: bool
    """Whether it receives events."""
    created_at: datetime
    updated_at: datetime
    raw: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)


@dataclass(frozen=True, kw_only=True)
class SubscriptionSecret:
    id: str
    secret: str
    """The secret with which receivers verify signatures, in the format of the Standard Webhooks libraries."""
    created_at: datetime
    expires_at: datetime | None
    """When a replaced secret stops signing; null for the current secret."""
    raw: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)


@dataclass(frozen=True, kw_only=True)
class PublishedEvent:
    id: str
    topic: str
    tasks: list[Task]
    """One task per target; none when no subscription matches."""
    raw: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)


@dataclass(frozen=True, kw_only=True)
class Organization:
    id: str
    name: str
    slug: str
    """Unique; part of dashboard URLs."""
    tier: str
    policy: OrganizationPolicy
    """The permissions of members, as opposed to owners and admins, in all workspaces of the organization."""
    max_api_key_days: int | None
    """How long a new API key is valid at most. Null: without limit."""
    require_second_factor: bool
    """Whether members need a second factor. API keys are not affected."""
    created_at: datetime
    updated_at: datetime
    raw: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)


@dataclass(frozen=True, kw_only=True)
class OrganizationDetail:
    id: str
    name: str
    slug: str
    """Unique; part of dashboard URLs."""
    tier: str
    policy: OrganizationPolicy
    """The permissions of members, as opposed to owners and admins, in all workspaces of the organization."""
    max_api_key_days: int | None
    """How long a new API key is valid at most. Null: without limit."""
    require_second_factor: bool
    """Whether members need a second factor. API keys are not affected."""
    created_at: datetime
    updated_at: datetime
    usage: OrganizationDetailUsage | None
    """Usage of the tier. Owners only."""
    raw: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)


@dataclass(frozen=True, kw_only=True)
class Member:
    user: MemberUser
    role: str
    """One of `owner`, `admin`, `member`."""
    workspace_role: str
    """The default role in workspaces that the member joins later, from the invitation."""
    joined_at: datetime
    raw: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)


@dataclass(frozen=True, kw_only=True)
class AuditStream:
    target: str | None
    """The host of the URL, which itself is never returned; null while there is no stream."""
    signing_secrets: list[AuditStreamSigningSecrets]
    """The current secret, and the previous one while it also signs."""
    waiting: int
    """How many entries were not received yet, counted up to 10,001."""
    last_error: str | None
    """Why the latest message was not received; null when it was, or when none was sent."""
    updated_at: datetime | None
    raw: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)


@dataclass(frozen=True, kw_only=True)
class Workspace:
    id: str
    organization_id: str
    name: str
    keeps_responses_with_secrets: bool
    """Whether the log keeps the headers and bodies of responses to requests with secrets."""
    asymmetric_signatures: bool
    """Whether deliveries also have a `v1a` signature (Ed25519), which receivers verify with a public key."""
    created_at: datetime
    updated_at: datetime
    raw: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)


@dataclass(frozen=True, kw_only=True)
class WorkspaceMember:
    user: WorkspaceMemberUser
    role: str
    """One of `viewer`, `editor`."""
    added_at: datetime
    raw: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)


@dataclass(frozen=True, kw_only=True)
class FederatedCredential:
    id: str
    workspace_id: str
    name: str
    issuer: str
    audience: str
    conditions: dict[str, str]
    scopes: list[str]
    """The scopes of the keys, as of an API key. Never more than the rights of its creator."""
    lifetime_ms: int
    """How long a key is valid."""
    created_by: str
    created_at: datetime
    last_used_at: datetime | None
    raw: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)


@dataclass(frozen=True, kw_only=True)
class Secret:
    name: str
    """The name in references `{{ secrets.NAME }}`."""
    allowed_hosts: list[str] | None
    """The hosts that it may be sent to. Null: every host."""
    created_at: datetime
    updated_at: datetime
    raw: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)


@dataclass(frozen=True, kw_only=True)
class SigningKey:
    public_key: str
    """The key with which receivers verify `v1a` signatures (Ed25519). It may be published."""
    expires_at: datetime | None
    """When a replaced key stops signing; null for the current key."""
    raw: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)


@dataclass(frozen=True, kw_only=True)
class SigningSecret:
    id: str
    workspace_id: str
    secret: str
    """The secret with which receivers verify signatures, in the format of the Standard Webhooks libraries."""
    public_key: str
    """The key with which receivers verify `v1a` signatures (Ed25519). It may be published."""
    created_at: datetime
    expires_at: datetime | None
    """When a replaced secret stops signing; null for the current secret."""
    raw: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)


@dataclass(frozen=True, kw_only=True)
class Connection:
    name: str
    kind: str
    """One of `header`, `basic`, `oauth2`, `identity_token`, `tls`."""
    hosts: list[str]
    """The hosts that it may authenticate to."""
    header: str | None
    """Of the kind `header`: the name of the header."""
    username: str | None
    """Of the kind `basic`."""
    token_url: str | None
    """Of the kind `oauth2`: the token endpoint."""
    client_id: str | None
    """Of the kind `oauth2`."""
    client_authentication: str | None
    """One of `basic`, `post`."""
    scope: str | None
    """Of the kind `oauth2`."""
    parameters: dict[str, str] | None
    audience: str | None
    """Of the kind `identity_token`."""
    lifetime_s: int | None
    """Of the kind `identity_token`: how long a token is valid, in seconds."""
    ca_certificate: str | None
    """Authorities that are trusted in addition to the public ones, as PEM."""
    client_certificate: str | None
    """The certificate that calls present to the target, as PEM."""
    created_at: datetime
    updated_at: datetime
    raw: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)


@dataclass(frozen=True, kw_only=True)
class ConnectionTest:
    ok: bool
    message: str
    """What happened, without secrets."""
    response_status: int | None
    """The status of the response to the call of `url`."""
    raw: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)


@dataclass(frozen=True, kw_only=True)
class Retry:
    """Delays that grow; or `delays_ms` alone, the exact delay before each retry."""

    max_retries: int | None
    backoff: str | None
    """Delay before retry n: exponential base × 4^(n-1), linear base × n, fixed base; ±10 %, at most the maximum."""
    base_delay_ms: int | None
    max_delay_ms: int | None
    delays_ms: list[int] | None
    """The exact delay before each retry, in order. Replaces the other fields."""
    raw: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)


@dataclass(frozen=True, kw_only=True)
class Callback:
    url: str
    headers: dict[str, str]
    retry: Retry
    """Delays that grow; or `delays_ms` alone, the exact delay before each retry."""
    timeout_ms: int
    """In milliseconds."""
    raw: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)


@dataclass(frozen=True, kw_only=True)
class Blocked:
    reason: str
    """The operator holds it since the restore of a backup."""
    host: str | None
    since: datetime | None
    next_probe_at: datetime | None
    """When Belfry may probe the host with one attempt. Tasks wait until a probe succeeds."""
    queue: str | None
    raw: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)


@dataclass(frozen=True, kw_only=True)
class LastRun:
    id: str
    status: str
    """One of `success`, `failed`."""
    response_status: int | None
    error_code: str | None
    finished_at: datetime
    raw: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)


@dataclass(frozen=True, kw_only=True)
class BatchResult:
    index: int
    task: Task | None
    error: BatchError | None
    raw: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)


@dataclass(frozen=True, kw_only=True)
class TaskOperationFilter:
    source: list[str] | None
    cronjob_id: list[str] | None
    event_id: list[str] | None
    topic: list[str] | None
    label: list[str] | None
    queue: list[str] | None
    callback_of: list[str] | None
    name: str | None
    since: datetime | None
    until: datetime | None
    raw: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)


@dataclass(frozen=True, kw_only=True)
class DeadLetterOperationFilter:
    cronjob_id: str | None
    topic: str | None
    label: str | None
    since: datetime | None
    until: datetime | None
    name: str | None
    host: list[str] | None
    error: list[str] | None
    raw: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)


@dataclass(frozen=True, kw_only=True)
class BulkOperationFilter:
    source: list[str] | None
    cronjob_id: list[str] | None
    event_id: list[str] | None
    topic: list[str] | None
    label: list[str] | None
    queue: list[str] | None
    callback_of: list[str] | None
    name: str | None
    since: datetime | None
    until: datetime | None
    host: list[str] | None
    error: list[str] | None
    raw: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)


@dataclass(frozen=True, kw_only=True)
class RunTimeNote:
    at: datetime
    local: str
    """The scheduled local time, which did not exist (gap) or occurred twice (overlap)."""
    code: str
    """One of `clock_gap`, `clock_overlap`."""
    raw: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)


@dataclass(frozen=True, kw_only=True)
class RunTimings:
    dns_ms: int | None
    """The DNS lookup."""
    connect_ms: int | None
    """The TCP connect, or the tunnel through an egress proxy."""
    tls_ms: int | None
    """The TLS handshake."""
    first_byte_ms: int | None
    """From the first byte of the request to the first byte of the response."""
    raw: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)


@dataclass(frozen=True, kw_only=True)
class RunError:
    code: str
    message: str
    raw: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)


@dataclass(frozen=True, kw_only=True)
class FailureGroup:
    host: str
    error_code: str
    response_status: int | None
    error_message: str
    """The message of the latest run."""
    count: int
    first_at: datetime
    last_at: datetime
    last_run_id: str
    """The latest run, as an example."""
    task_name: str
    """The name of its task."""
    raw: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)


@dataclass(frozen=True, kw_only=True)
class RunCountsBuckets:
    at: datetime
    total: int
    """Attempts that started."""
    failed: int
    raw: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)


@dataclass(frozen=True, kw_only=True)
class RunRequest:
    url: str
    method: str
    headers: dict[str, str]
    body: str | None
    body_encoding: str
    """One of `utf8`, `base64`."""
    body_truncated: bool
    """The request is stored completely."""
    raw: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)


@dataclass(frozen=True, kw_only=True)
class RunResponse:
    status: int
    headers: dict[str, Any]
    body: str
    """Decoded by the charset of its Content-Type, and decompressed up to 64 KiB."""
    body_bytes: int
    """Bytes received; `body` may be shorter."""
    body_truncated: bool
    body_encoding: str
    """One of `utf8`, `base64`."""
    raw: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)


@dataclass(frozen=True, kw_only=True)
class Host:
    host: str
    """A host name or address, with its port."""
    circuit: HostCircuit
    """The circuit breaker of the host for this workspace."""
    waiting: int
    """Tasks that are due and not started."""
    in_flight: int
    attempts: int
    """Attempts of the period that started."""
    failed: int
    attempts_per_minute: float
    """Over the period."""
    duration_p50_ms: int | None
    last_failure: HostLastFailure | None
    """The latest failed run of the period."""
    raw: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)


@dataclass(frozen=True, kw_only=True)
class StatusDispatchers:
    """They make the calls."""

    live: int
    """Processes with a heartbeat in the last five seconds."""
    last_seen_at: datetime | None
    """The latest heartbeat; null when there is none."""
    raw: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)


@dataclass(frozen=True, kw_only=True)
class StatusSchedulers:
    """They run cron jobs and statistics."""

    live: int
    """Processes with a heartbeat in the last five seconds."""
    last_seen_at: datetime | None
    """The latest heartbeat; null when there is none."""
    raw: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)


@dataclass(frozen=True, kw_only=True)
class RateLimit:
    """At most `count` attempts start within any period of this length, by PostgreSQL’s clock."""

    count: int
    period_ms: int
    raw: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)


@dataclass(frozen=True, kw_only=True)
class Condition:
    path: str
    """The names of members, joined by dots. A number selects an element of a list."""
    op: str
    """One of `eq`, `ne`."""
    value: Any
    raw: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)


@dataclass(frozen=True, kw_only=True)
class OrganizationPolicy:
    """The permissions of members, as opposed to owners and admins, in all workspaces of the organization."""

    members_can_invite: bool
    members_can_create_api_keys: bool
    members_can_create_secrets: bool
    members_can_create_workspaces: bool
    members_can_delete_tasks: bool
    members_can_manage_integrations: bool
    raw: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)


@dataclass(frozen=True, kw_only=True)
class OrganizationDetailUsage:
    """Usage of the tier. Owners only."""

    period: Period
    """A UTC calendar month; start is included, end is not."""
    executions: OrganizationDetailUsageExecutions
    """Tasks whose dispatch started in the period; retries do not count."""
    storage_bytes: OrganizationDetailUsageStorageBytes
    """Stored payloads and captured responses; updated within seconds."""
    workspaces: OrganizationDetailUsageWorkspaces
    raw: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)


@dataclass(frozen=True, kw_only=True)
class MemberUser:
    id: str
    email: str
    name: str
    raw: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)


@dataclass(frozen=True, kw_only=True)
class AuditStreamSigningSecrets:
    secret: str
    expires_at: datetime | None
    raw: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)


@dataclass(frozen=True, kw_only=True)
class WorkspaceMemberUser:
    id: str
    email: str
    name: str
    raw: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)


@dataclass(frozen=True, kw_only=True)
class BatchError:
    code: str
    """Stable."""
    title: str
    status: int
    detail: str
    """What happened, and what to do about it."""
    errors: list[FieldError] | None
    """Every invalid field."""
    raw: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)


@dataclass(frozen=True, kw_only=True)
class HostCircuit:
    """The circuit breaker of the host for this workspace."""

    state: str
    """One of `closed`, `open`, `half_open`."""
    since: datetime | None
    """When the breaker opened; null while it is closed."""
    next_probe_at: datetime | None
    dispatchers: int
    """The dispatchers in which the breaker is not closed."""
    raw: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)


@dataclass(frozen=True, kw_only=True)
class HostLastFailure:
    run_id: str
    at: datetime
    response_status: int | None
    error_code: str | None
    raw: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)


@dataclass(frozen=True, kw_only=True)
class Period:
    """A UTC calendar month; start is included, end is not."""

    start: datetime
    end: datetime
    raw: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)


@dataclass(frozen=True, kw_only=True)
class OrganizationDetailUsageExecutions:
    """Tasks whose dispatch started in the period; retries do not count."""

    used: int
    limit: int | None
    """null: no limit."""
    raw: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)


@dataclass(frozen=True, kw_only=True)
class OrganizationDetailUsageStorageBytes:
    """Stored payloads and captured responses; updated within seconds."""

    used: int
    limit: int | None
    """null: no limit."""
    raw: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)


@dataclass(frozen=True, kw_only=True)
class OrganizationDetailUsageWorkspaces:
    used: int
    limit: int
    raw: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)


@dataclass(frozen=True, kw_only=True)
class FieldError:
    path: str
    """The path of the field in the input."""
    code: str
    message: str
    raw: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)


# Names of an earlier version.
Note = RunTimeNote
Operation = DeadLetterOperation
Settled = ReplayedDeadLetters
EndedTasks = CancelledTasks
