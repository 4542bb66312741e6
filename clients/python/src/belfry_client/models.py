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
    """The id, which never changes."""
    workspace_id: str
    """The workspace that it belongs to."""
    name: str
    """The name that its creator chose."""
    source: str
    """The origin of the task."""
    cronjob_id: str | None
    """The cron job of the task; null for other tasks."""
    event_id: str | None
    """The event that created the task, or the task that it replays; null for other tasks."""
    topic: str | None
    """The topic of the event; null for other tasks."""
    url: str
    """The URL that is called."""
    method: str
    """The HTTP method."""
    headers: dict[str, str]
    """The headers, by name."""
    payload: Any
    """Any JSON value, unchanged."""
    payload_base64: str | None
    """The body in base64, when it was given so; `payload` is then null."""
    content_type: str | None
    """The content type of `payload_base64`."""
    retry: Retry
    """When failed attempts are repeated."""
    timeout_ms: int
    """The time limit of an attempt, from connecting to the last byte, in milliseconds."""
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
    """The time of the first attempt."""
    local_time: str | None
    """The time in `timezone`, with its offset. Only in the answer to a request with a timezone."""
    timezone: str | None
    """The zone of the request."""
    state: str
    """Where the task is: waiting, in progress, or ended with this outcome."""
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
    """The labels of the task."""
    next_retry_at: datetime | None
    """Set while the state is `retrying`."""
    last_run: LastRun | None
    """The latest attempt that ended; null before."""
    callback_of: str | None
    """The task whose outcome this callback reports."""
    replay_of: str | None
    """The task that this one replays; null for other tasks."""
    created_by: str | None
    """The user or the API key that created it. Null: Belfry, or before this was recorded."""
    updated_by: str | None
    """The user or the API key that changed it last."""
    created_at: datetime
    """When it was created."""
    updated_at: datetime
    """When it was last changed."""
    finished_at: datetime | None
    """When it ended; null before."""
    raw: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)


@dataclass(frozen=True, kw_only=True)
class TaskBatch:
    data: list[BatchResult]
    """The items of this page."""
    raw: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)


@dataclass(frozen=True, kw_only=True)
class TaskCount:
    count: int
    """How many tasks match, at most 10,000."""
    is_capped: bool
    """Whether there may be more: at most 100,000 tasks are checked, and 10,000 counted."""
    raw: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)


@dataclass(frozen=True, kw_only=True)
class CancelledTasks:
    cancelled: int
    """The number of tasks that this request cancelled."""
    operation: TaskOperation | None
    """Set when there are too many for one request; they follow in the background."""
    raw: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)


@dataclass(frozen=True, kw_only=True)
class StoppedTasks:
    stopped: int
    """The number of tasks that this request stopped."""
    operation: TaskOperation | None
    """Set when there are too many for one request; they follow in the background."""
    raw: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)


@dataclass(frozen=True, kw_only=True)
class TaskOperation:
    id: str
    """The id, which never changes."""
    workspace_id: str
    """The workspace that it belongs to."""
    action: str
    """What happened, or what the operation does."""
    filter: TaskOperationFilter
    """The filter of the request."""
    status: str
    """Whether it is running, done or cancelled."""
    total: int
    """Tasks that matched when it started, of the first 100,000 in the workspace; never less than `ended`."""
    ended: int
    """Tasks cancelled or stopped so far."""
    created_at: datetime
    """When it was created."""
    updated_at: datetime
    """When it was last changed."""
    finished_at: datetime | None
    """When it ended; null before."""
    raw: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)


@dataclass(frozen=True, kw_only=True)
class ReplayedDeadLetters:
    replayed: int
    """The number of dead letters that this request replayed."""
    operation: DeadLetterOperation | None
    """Set when there are too many for one request; the rest follows in the background."""
    raw: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)


@dataclass(frozen=True, kw_only=True)
class DiscardedDeadLetters:
    discarded: int
    """The number of dead letters that this request discarded."""
    operation: DeadLetterOperation | None
    """Set when there are too many for one request; the rest follows in the background."""
    raw: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)


@dataclass(frozen=True, kw_only=True)
class DeadLetterOperation:
    id: str
    """The id, which never changes."""
    workspace_id: str
    """The workspace that it belongs to."""
    action: str
    """What happened, or what the operation does."""
    filter: DeadLetterOperationFilter
    """The filter of the request."""
    per_second: int | None
    """How many of its replays are due per second. Null: all at once."""
    status: str
    """Whether it is running, done or cancelled."""
    total: int
    """Dead letters that matched when it started, of the first 100,000 in the workspace; never less than `settled`."""
    settled: int
    """Dead letters replayed or discarded so far."""
    created_at: datetime
    """When it was created."""
    updated_at: datetime
    """When it was last changed."""
    finished_at: datetime | None
    """When it ended; null before."""
    raw: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)


@dataclass(frozen=True, kw_only=True)
class BulkOperation:
    id: str
    """The id, which never changes."""
    workspace_id: str
    """The workspace that it belongs to."""
    action: str
    """What happened, or what the operation does."""
    ids: list[str] | None
    """The chosen tasks. Null: all that match the filter."""
    filter: BulkOperationFilter
    """The filter of the request."""
    per_second: int | None
    """How many of its replays are due per second. Null: all at once."""
    status: str
    """Whether it is running, done or cancelled."""
    total: int
    """Tasks that matched when it started, of the first 100,000 in the workspace; never less than `done`."""
    done: int
    """Tasks cancelled, stopped, replayed or discarded so far."""
    created_at: datetime
    """When it was created."""
    updated_at: datetime
    """When it was last changed."""
    finished_at: datetime | None
    """When it ended; null before."""
    raw: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)


@dataclass(frozen=True, kw_only=True)
class CronJob:
    id: str
    """The id, which never changes."""
    workspace_id: str
    """The workspace that it belongs to."""
    key: str | None
    """The key that its creator chose."""
    name: str
    """The name that its creator chose."""
    cron: str
    """The schedule in five fields: minute, hour, day of month, month, day of week."""
    timezone: str
    """The IANA time zone of the schedule."""
    description: str
    """The schedule in English."""
    url: str
    """The URL that is called."""
    method: str
    """The HTTP method."""
    headers: dict[str, str]
    """The headers, by name."""
    payload: Any
    """Any JSON value, unchanged."""
    payload_base64: str | None
    """The body in base64, when it was given so; `payload` is then null."""
    content_type: str | None
    """The content type of `payload_base64`."""
    retry: Retry
    """When failed attempts are repeated."""
    timeout_ms: int
    """The time limit of an attempt, from connecting to the last byte, in milliseconds."""
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
    """Whether a run starts while an earlier one is unfinished."""
    catch_up: str
    """Which missed runs are made up for after an outage."""
    starts_at: datetime | None
    """No run starts earlier; null: no bound."""
    ends_at: datetime | None
    """No run starts at this time or later."""
    max_age_ms: int | None
    """No attempt starts this long after the time of the task, in milliseconds."""
    labels: list[str]
    """The labels of its tasks."""
    status: str
    """`ended` when no run is left."""
    failing_since: datetime | None
    """The first failure since which no call has succeeded."""
    paused_reason: str | None
    """`failing`: Belfry has switched it off, because it only failed for days. Null otherwise."""
    next_run_at: datetime | None
    """The first of `next_runs`; null when paused or ended."""
    next_runs: list[datetime]
    """The next runs."""
    notes: list[RunTimeNote]
    """The runs that a clock change affects."""
    last_run: LastRun | None
    """The latest attempt that ended; null before."""
    created_by: str | None
    """The user or the API key that created it. Null: Belfry, or before this was recorded."""
    updated_by: str | None
    """The user or the API key that changed it last."""
    created_at: datetime
    """When it was created."""
    updated_at: datetime
    """When it was last changed."""
    raw: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)


@dataclass(frozen=True, kw_only=True)
class CronPreview:
    description: str
    """The schedule in English."""
    next_runs: list[datetime]
    """The next runs."""
    notes: list[RunTimeNote]
    """The runs that a clock change affects."""
    raw: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)


@dataclass(frozen=True, kw_only=True)
class Backfill:
    created: int
    """The tasks that this request created."""
    skipped: int
    """Occurrences of the time that have a task already."""
    raw: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)


@dataclass(frozen=True, kw_only=True)
class Run:
    id: str
    """The id, which never changes."""
    workspace_id: str
    """The workspace that it belongs to."""
    task_id: str
    """The task."""
    task_name: str
    """The name of the task."""
    source: str
    """What created the task."""
    cronjob_id: str | None
    """The cron job of the task; null for other tasks."""
    cronjob_timezone: str | None
    """The time zone of the cron job: the present one, or that of the day when the run moved to object storage. Null when the cron job has gone, and for other tasks."""
    topic: str | None
    """The topic of the event; null for other tasks."""
    labels: list[str]
    """The labels of the task."""
    attempt: int
    """1 for the first attempt."""
    status: str
    """Whether the attempt succeeded."""
    scheduled_at: datetime
    """When the attempt should have started."""
    started_at: datetime
    """When the attempt started."""
    finished_at: datetime
    """When the attempt ended."""
    duration_ms: int
    """How long the attempt took, in milliseconds."""
    lag_ms: int
    """The delay between the scheduled time and the start."""
    waited_for: str | None
    """What a late start waited for, for most of the time. Null when the start was less than a second late, or when the reason is not known."""
    timings: RunTimings | None
    """How long the steps of the call took, in milliseconds. A step is null when the call had none or did not complete it; a kept-alive connection has only `first_byte_ms`. Null when the DNS lookup did not end, when nothing was sent, or when the call was repeated with a new access token."""
    url: str
    """The URL that is called."""
    method: str
    """The HTTP method."""
    response_status: int | None
    """The status of the response; null when there was no response."""
    error: RunError | None
    """Why the attempt failed; null when it succeeded."""
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
    """The length of a bucket, in milliseconds."""
    buckets: list[RunCountsBuckets]
    """At most 61 buckets."""
    raw: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)


@dataclass(frozen=True, kw_only=True)
class RunDetail:
    id: str
    """The id, which never changes."""
    workspace_id: str
    """The workspace that it belongs to."""
    task_id: str
    """The task."""
    task_name: str
    """The name of the task."""
    source: str
    """What created the task."""
    cronjob_id: str | None
    """The cron job of the task; null for other tasks."""
    cronjob_timezone: str | None
    """The time zone of the cron job: the present one, or that of the day when the run moved to object storage. Null when the cron job has gone, and for other tasks."""
    topic: str | None
    """The topic of the event; null for other tasks."""
    labels: list[str]
    """The labels of the task."""
    attempt: int
    """1 for the first attempt."""
    status: str
    """Whether the attempt succeeded."""
    scheduled_at: datetime
    """When the attempt should have started."""
    started_at: datetime
    """When the attempt started."""
    finished_at: datetime
    """When the attempt ended."""
    duration_ms: int
    """How long the attempt took, in milliseconds."""
    lag_ms: int
    """The delay between the scheduled time and the start."""
    waited_for: str | None
    """What a late start waited for, for most of the time. Null when the start was less than a second late, or when the reason is not known."""
    timings: RunTimings | None
    """How long the steps of the call took, in milliseconds. A step is null when the call had none or did not complete it; a kept-alive connection has only `first_byte_ms`. Null when the DNS lookup did not end, when nothing was sent, or when the call was repeated with a new access token."""
    url: str
    """The URL that is called."""
    method: str
    """The HTTP method."""
    response_status: int | None
    """The status of the response; null when there was no response."""
    error: RunError | None
    """Why the attempt failed; null when it succeeded."""
    note: str | None
    """What was odd about a success, such as headers that could not be read. Null for a failure, whose `error` says it."""
    request: RunRequest
    """The request, as it was sent; secrets are hidden."""
    response: RunResponse | None
    """Null when there was no response."""
    raw: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)


@dataclass(frozen=True, kw_only=True)
class Hosts:
    data: list[Host]
    """The hosts, those that are paused or have an open circuit breaker first."""
    omitted: int
    """Hosts beyond the first 200."""
    raw: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)


@dataclass(frozen=True, kw_only=True)
class Host:
    host: str
    """A host name or address, with its port."""
    circuit: HostCircuit
    """The circuit breaker of the host for this workspace."""
    paused_at: datetime | None
    """Since when a user has paused it; null unless it is paused."""
    waiting: int
    """Tasks that are due and not started."""
    waiting_is_capped: bool
    """Only the first 10,000 waiting tasks of the workspace were counted."""
    in_flight: int
    """Attempts in flight."""
    max_in_flight: int
    """How many calls to it may be in flight at once, from all dispatchers and workspaces. 0: no dispatcher is running."""
    health: HostHealth
    """The attempts that have ended, by the time of their start."""
    last_failure: HostLastFailure | None
    """The latest failed run of the last 24 hours."""
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
    notices: list[Notice]
    """What keeps tasks of the workspace from running, the most severe first. Empty: nothing does."""
    raw: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)


@dataclass(frozen=True, kw_only=True)
class Queue:
    name: str
    """The name that its creator chose."""
    max_concurrent: int | None
    """Attempts in flight at a time, over all dispatchers."""
    rate_limit: RateLimit | None
    """How many attempts may start in a period; null: any number."""
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
    """When it was created."""
    updated_at: datetime
    """When it was last changed."""
    raw: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)


@dataclass(frozen=True, kw_only=True)
class Subscription:
    id: str
    """The id, which never changes."""
    workspace_id: str
    """The workspace that it belongs to."""
    key: str | None
    """The key that its creator chose."""
    topic: str
    """The topics that it receives: one, all below one (`orders.*`), or all (`*`)."""
    filter: list[Condition]
    """Conditions on members of the payload. Only events for which all of them hold are sent; a missing member satisfies only `ne` and `exists: false`."""
    url: str
    """The URL that is called."""
    headers: dict[str, str]
    """The headers, by name."""
    retry: Retry
    """When failed attempts are repeated."""
    timeout_ms: int
    """The time limit of an attempt, from connecting to the last byte, in milliseconds."""
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
    failing_since: datetime | None
    """The first failure since which no call has succeeded."""
    paused_reason: str | None
    """`failing`: Belfry has switched it off, because it only failed for days. Null otherwise."""
    expires_at: datetime | None
    """When it ends unless its MCP client renews it; null for never."""
    mcp: SubscriptionMcp | None
    """Of a subscription that an MCP client made, and renews before `expires_at`. Null for any other."""
    created_by: str | None
    """The user or the API key that created it. Null: Belfry, or before this was recorded."""
    created_at: datetime
    """When it was created."""
    updated_at: datetime
    """When it was last changed."""
    raw: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)


@dataclass(frozen=True, kw_only=True)
class SubscriptionSecret:
    id: str
    """The id, which never changes."""
    secret: str
    """The secret with which receivers verify signatures, in the format of the Standard Webhooks libraries."""
    created_at: datetime
    """When it was created."""
    expires_at: datetime | None
    """When a replaced secret stops signing; null for the current secret."""
    raw: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)


@dataclass(frozen=True, kw_only=True)
class PublishedEvent:
    id: str
    """The id, which never changes."""
    topic: str
    """The topic."""
    tasks: list[Task]
    """One task per target; none when no subscription matches."""
    raw: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)


@dataclass(frozen=True, kw_only=True)
class Organization:
    id: str
    """The id, which never changes."""
    name: str
    """The name that its creator chose."""
    slug: str
    """Unique; part of dashboard URLs."""
    tier: str
    """The name of the tier."""
    policy: OrganizationPolicy
    """The permissions of members, as opposed to owners and admins, in all workspaces of the organization."""
    max_api_key_days: int | None
    """How long a new API key is valid at most. Null: without limit."""
    require_second_factor: bool
    """Whether members need a second factor. API keys are not affected."""
    created_at: datetime
    """When it was created."""
    updated_at: datetime
    """When it was last changed."""
    raw: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)


@dataclass(frozen=True, kw_only=True)
class OrganizationDetail:
    id: str
    """The id, which never changes."""
    name: str
    """The name that its creator chose."""
    slug: str
    """Unique; part of dashboard URLs."""
    tier: str
    """The name of the tier."""
    policy: OrganizationPolicy
    """The permissions of members, as opposed to owners and admins, in all workspaces of the organization."""
    max_api_key_days: int | None
    """How long a new API key is valid at most. Null: without limit."""
    require_second_factor: bool
    """Whether members need a second factor. API keys are not affected."""
    created_at: datetime
    """When it was created."""
    updated_at: datetime
    """When it was last changed."""
    usage: OrganizationDetailUsage | None
    """Usage of the tier. Owners only."""
    raw: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)


@dataclass(frozen=True, kw_only=True)
class Member:
    user: MemberUser
    """The user."""
    role: str
    """The role."""
    workspace_role: str
    """The default role in workspaces that the member joins later, from the invitation."""
    joined_at: datetime
    """When the user joined."""
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
    """When it was last changed; null while there is no stream."""
    raw: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)


@dataclass(frozen=True, kw_only=True)
class Workspace:
    id: str
    """The id, which never changes."""
    organization_id: str
    """The organization that it belongs to."""
    name: str
    """The name that its creator chose."""
    keeps_responses_with_secrets: bool
    """Whether the log keeps the headers and bodies of responses to requests with secrets."""
    asymmetric_signatures: bool
    """Whether deliveries also have a `v1a` signature (Ed25519), which receivers verify with a public key."""
    switch_off_after_days: int
    """After how many days a cron job or subscription that only fails is switched off. Owners are warned after half of them. 0: never."""
    created_at: datetime
    """When it was created."""
    updated_at: datetime
    """When it was last changed."""
    raw: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)


@dataclass(frozen=True, kw_only=True)
class WorkspaceMember:
    user: WorkspaceMemberUser
    """The user."""
    role: str
    """The role."""
    added_at: datetime
    """When the user was added."""
    raw: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)


@dataclass(frozen=True, kw_only=True)
class FederatedCredential:
    id: str
    """The id, which never changes."""
    workspace_id: str
    """The workspace that it belongs to."""
    name: str
    """The name that its creator chose."""
    issuer: str
    """The URL of the issuer."""
    audience: str
    """The `aud` of the tokens."""
    conditions: dict[str, str]
    """The claims that a token must have."""
    scopes: list[str]
    """The scopes of the keys, as of an API key. Never more than the rights of its creator."""
    lifetime_ms: int
    """How long a key is valid."""
    created_by: str
    """The user who created it."""
    created_at: datetime
    """When it was created."""
    last_used_at: datetime | None
    """When it was last used; null before the first use."""
    raw: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)


@dataclass(frozen=True, kw_only=True)
class Secret:
    name: str
    """The name in references `{{ secrets.NAME }}`."""
    allowed_hosts: list[str] | None
    """The hosts that it may be sent to. Null: every host."""
    created_at: datetime
    """When it was created."""
    updated_at: datetime
    """When it was last changed."""
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
    """The id, which never changes."""
    workspace_id: str
    """The workspace that it belongs to."""
    secret: str
    """The secret with which receivers verify signatures, in the format of the Standard Webhooks libraries."""
    public_key: str
    """The key with which receivers verify `v1a` signatures (Ed25519). It may be published."""
    created_at: datetime
    """When it was created."""
    expires_at: datetime | None
    """When a replaced secret stops signing; null for the current secret."""
    raw: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)


@dataclass(frozen=True, kw_only=True)
class Connection:
    name: str
    """The name that its creator chose."""
    kind: str
    """How it proves who calls."""
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
    """Of the kind `oauth2`: whether the client proves who it is by HTTP Basic, or in the body."""
    scope: str | None
    """Of the kind `oauth2`."""
    parameters: dict[str, str] | None
    """Of the kind `oauth2`: further parameters of the token request."""
    audience: str | None
    """Of the kind `identity_token`."""
    lifetime_s: int | None
    """Of the kind `identity_token`: how long a token is valid, in seconds."""
    ca_certificate: str | None
    """Authorities that are trusted in addition to the public ones, as PEM."""
    client_certificate: str | None
    """The certificate that calls present to the target, as PEM."""
    created_at: datetime
    """When it was created."""
    updated_at: datetime
    """When it was last changed."""
    raw: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)


@dataclass(frozen=True, kw_only=True)
class ConnectionTest:
    ok: bool
    """Whether the test succeeded."""
    message: str
    """What happened, without secrets."""
    response_status: int | None
    """The status of the response to the call of `url`."""
    raw: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)


@dataclass(frozen=True, kw_only=True)
class Retry:
    """Delays that grow; or `delays_ms` alone, the exact delay before each retry."""

    max_retries: int | None
    """The maximum number of retries, 0 to 20."""
    backoff: str | None
    """Delay before retry n: exponential base × 4^(n-1), linear base × n, fixed base; ±10 %, at most the maximum."""
    base_delay_ms: int | None
    """The delay before the first retry, 1,000 to 3,600,000 ms."""
    max_delay_ms: int | None
    """The maximum delay, 1,000 to 86,400,000 ms and at least `base_delay_ms`."""
    delays_ms: list[int] | None
    """The exact delay before each retry, in order. Replaces the other fields."""
    raw: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)


@dataclass(frozen=True, kw_only=True)
class Callback:
    url: str
    """The URL that is called."""
    headers: dict[str, str]
    """The headers, by name."""
    retry: Retry
    """When failed attempts are repeated."""
    timeout_ms: int
    """The time limit of an attempt, from connecting to the last byte, in milliseconds."""
    raw: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)


@dataclass(frozen=True, kw_only=True)
class Blocked:
    reason: str
    """The operator holds it since the restore of a backup."""
    host: str | None
    """The host, with its port unless it is the default."""
    since: datetime | None
    """When a user paused the host."""
    next_probe_at: datetime | None
    """When Belfry may probe the host with one attempt. Tasks wait until a probe succeeds."""
    queue: str | None
    """The name of the queue."""
    raw: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)


@dataclass(frozen=True, kw_only=True)
class LastRun:
    id: str
    """The id, which never changes."""
    status: str
    """Whether the attempt succeeded."""
    response_status: int | None
    """The status of the response; null when there was no response."""
    error_code: str | None
    """Why the attempt failed; null when it succeeded."""
    finished_at: datetime
    """When the attempt ended."""
    raw: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)


@dataclass(frozen=True, kw_only=True)
class BatchResult:
    index: int
    """The place of the task in the request, from 0."""
    task: Task | None
    """The created task; absent when the row was refused."""
    error: BatchError | None
    """Why the row was refused; absent when the task was created."""
    raw: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)


@dataclass(frozen=True, kw_only=True)
class TaskOperationFilter:
    """The filter of the request."""

    source: list[str] | None
    """What created the tasks; null: any source."""
    cronjob_id: list[str] | None
    """The cron jobs of the tasks; null: any."""
    event_id: list[str] | None
    """The events of the tasks; null: any."""
    topic: list[str] | None
    """The topics of the tasks; null: any."""
    label: list[str] | None
    """Labels, of which a task has at least one; null: any."""
    queue: list[str] | None
    """The queues of the tasks; null: any."""
    callback_of: list[str] | None
    """The tasks that these callbacks report; null: any."""
    name: str | None
    """The beginning of the name; null: any."""
    host: list[str] | None
    """The hosts that the tasks call; null: any."""
    since: datetime | None
    """The earliest `execute_at`; null: no bound."""
    until: datetime | None
    """The time before which `execute_at` is; null: no bound."""
    upcoming: bool | None
    """Whether only occurrences that are not due yet match, or only other tasks; null: any."""
    raw: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)


@dataclass(frozen=True, kw_only=True)
class DeadLetterOperationFilter:
    """The filter of the request."""

    cronjob_id: str | None
    """The cron jobs of the tasks; null: any."""
    topic: str | None
    """The topics of the tasks; null: any."""
    label: str | None
    """Labels, of which a task has at least one; null: any."""
    since: datetime | None
    """The earliest `execute_at`; null: no bound."""
    until: datetime | None
    """The time before which `execute_at` is; null: no bound."""
    name: str | None
    """The beginning of the name; null: any."""
    host: list[str] | None
    """The hosts that the tasks call; null: any."""
    error: list[str] | None
    """The errors of the last runs; null: any."""
    response_status: list[str] | None
    """The statuses of the last runs, or classes such as `5xx`; null: any."""
    raw: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)


@dataclass(frozen=True, kw_only=True)
class BulkOperationFilter:
    """The filter of the request."""

    source: list[str] | None
    """What created the tasks; null: any source."""
    cronjob_id: list[str] | None
    """The cron jobs of the tasks; null: any."""
    event_id: list[str] | None
    """The events of the tasks; null: any."""
    topic: list[str] | None
    """The topics of the tasks; null: any."""
    label: list[str] | None
    """Labels, of which a task has at least one; null: any."""
    queue: list[str] | None
    """The queues of the tasks; null: any."""
    callback_of: list[str] | None
    """The tasks that these callbacks report; null: any."""
    name: str | None
    """The beginning of the name; null: any."""
    host: list[str] | None
    """The hosts that the tasks call; null: any."""
    since: datetime | None
    """The earliest `execute_at`; null: no bound."""
    until: datetime | None
    """The time before which `execute_at` is; null: no bound."""
    upcoming: bool | None
    """Whether only occurrences that are not due yet match, or only other tasks; null: any."""
    state_reason: list[str] | None
    """Why the tasks ended without the outcome of an attempt; null: any reason, and none."""
    error: list[str] | None
    """The errors of the last runs; null: any."""
    response_status: list[str] | None
    """The statuses of the last runs, or classes such as `5xx`; null: any."""
    raw: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)


@dataclass(frozen=True, kw_only=True)
class RunTimeNote:
    at: datetime
    """When the run starts."""
    local: str
    """The scheduled local time, which did not exist (gap) or occurred twice (overlap)."""
    code: str
    """Whether the scheduled local time did not exist (`clock_gap`) or occurred twice (`clock_overlap`)."""
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
    """A stable code, such as `timeout`."""
    message: str
    """What happened, in a sentence."""
    raw: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)


@dataclass(frozen=True, kw_only=True)
class FailureGroup:
    host: str
    """The host of the target, with its port where the URL has one."""
    error_code: str
    """Why the runs failed."""
    response_status: int | None
    """The status of the response; null when there was no response."""
    error_message: str
    """The message of the latest run."""
    cause: str | None
    """The first 120 characters of the response of the latest run, without markup; null when it had no text."""
    count: int
    """The number of failed runs."""
    state: str
    """Whether users have ignored or resolved it. A run after the resolution opens it again."""
    first_at: datetime
    """When the first of them started."""
    last_at: datetime
    """When the latest of them started."""
    last_run_id: str
    """The latest run, as an example."""
    task_name: str
    """The name of its task."""
    raw: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)


@dataclass(frozen=True, kw_only=True)
class RunCountsBuckets:
    at: datetime
    """The start of the bucket."""
    total: int
    """Attempts that started."""
    failed: int
    """The number of failed attempts."""
    raw: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)


@dataclass(frozen=True, kw_only=True)
class RunRequest:
    """The request, as it was sent; secrets are hidden."""

    url: str
    """The URL that is called."""
    method: str
    """The HTTP method."""
    headers: dict[str, str]
    """The headers, by name."""
    body: str | None
    """The body, in the form of `body_encoding`; null without a body."""
    body_encoding: str
    """`utf8` for text; otherwise `base64`."""
    body_truncated: bool
    """The request is stored completely."""
    raw: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)


@dataclass(frozen=True, kw_only=True)
class RunResponse:
    status: int
    """The HTTP status."""
    headers: dict[str, Any]
    """The headers, by name."""
    body: str
    """Decoded by the charset of its Content-Type, and decompressed up to 64 KiB."""
    body_bytes: int
    """Bytes received; `body` may be shorter."""
    body_truncated: bool
    """Whether `body` is only the beginning of what was received."""
    body_encoding: str
    """`utf8` for text; otherwise `base64`."""
    raw: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)


@dataclass(frozen=True, kw_only=True)
class HostCircuit:
    """The circuit breaker of the host for this workspace."""

    state: str
    """`closed`: calls start. `open`: tasks wait. `half_open`: one attempt at a time probes the host."""
    since: datetime | None
    """When the breaker opened; null while it is closed."""
    next_probe_at: datetime | None
    """When Belfry may probe the host with one attempt; null while the breaker is closed."""
    dispatchers: int
    """The dispatchers in which the breaker is not closed."""
    raw: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)


@dataclass(frozen=True, kw_only=True)
class HostHealth:
    """The attempts that have ended, by the time of their start."""

    five_minutes: HostCount
    """The attempts of the current minute and the four before."""
    hour: HostCount
    """The attempts of the current minute and the 59 before."""
    day: HostCount
    """The attempts of the current hour of the clock and the 23 before."""
    raw: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)


@dataclass(frozen=True, kw_only=True)
class HostLastFailure:
    run_id: str
    """The run."""
    at: datetime
    """When it started."""
    response_status: int | None
    """The status of the response; null when there was no response."""
    error_code: str | None
    """Why the attempt failed; null when it succeeded."""
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
class Notice:
    kind: str
    """Processes that do not run, a limit that is used up, tasks held since a restore, open circuit breakers, or what users have paused."""
    count: int
    """How many hosts, queues or cron jobs there are; 1 for other kinds."""
    name: str | None
    """The host, the queue or the cron job, if there is one; null for several and for other kinds."""
    since: datetime | None
    """Since when, for the first of them; the last heartbeat of processes. Null: not known."""
    tasks: int
    """Due tasks that wait for it, or that were cancelled for the limit this month; counted up to 10,000."""
    raw: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)


@dataclass(frozen=True, kw_only=True)
class RateLimit:
    """At most `count` attempts start within any period of this length, by PostgreSQL’s clock."""

    count: int
    """The number of attempts that may start in a period, 1 to 10,000."""
    period_ms: int
    """The length of a period in milliseconds, 100 to 86,400,000."""
    raw: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)


@dataclass(frozen=True, kw_only=True)
class Condition:
    path: str
    """The names of members, joined by dots. A number selects an element of a list."""
    op: str
    """How the member is compared with `value`."""
    value: Any
    """The value that the member is compared with."""
    raw: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)


@dataclass(frozen=True, kw_only=True)
class SubscriptionMcp:
    name: str
    """The type of the events."""
    arguments: dict[str, Any]
    """What its client asked for."""
    principal: str | None
    """Who subscribed at another MCP server. Null: the API key that created it."""
    raw: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)


@dataclass(frozen=True, kw_only=True)
class OrganizationPolicy:
    """The permissions of members, as opposed to owners and admins, in all workspaces of the organization."""

    members_can_invite: bool
    """Whether members may invite users, and list and revoke invitations."""
    members_can_create_api_keys: bool
    """Whether members may list, create and revoke API keys."""
    members_can_create_secrets: bool
    """Whether members may list, create, replace and delete secrets and signing secrets, and change connections."""
    members_can_create_workspaces: bool
    """Whether members may create workspaces."""
    members_can_delete_tasks: bool
    """Whether members may cancel and stop tasks, discard dead letters, and delete cron jobs, queues and subscriptions."""
    members_can_manage_integrations: bool
    """Whether members may manage integrations."""
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
    """Its workspaces."""
    raw: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)


@dataclass(frozen=True, kw_only=True)
class MemberUser:
    """The user."""

    id: str
    """The id, which never changes."""
    email: str
    """The email address."""
    name: str
    """The name that its creator chose."""
    raw: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)


@dataclass(frozen=True, kw_only=True)
class AuditStreamSigningSecrets:
    secret: str
    """The secret, for `webhooks.verify`."""
    expires_at: datetime | None
    """When it stops being valid; null for no end."""
    raw: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)


@dataclass(frozen=True, kw_only=True)
class WorkspaceMemberUser:
    """The user."""

    id: str
    """The id, which never changes."""
    email: str
    """The email address."""
    name: str
    """The name that its creator chose."""
    raw: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)


@dataclass(frozen=True, kw_only=True)
class BatchError:
    code: str
    """Stable."""
    title: str
    """A short name of the error."""
    status: int
    """The HTTP status that a request with this row alone would get."""
    detail: str
    """What happened, and what to do about it."""
    errors: list[FieldError] | None
    """Every invalid field."""
    raw: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)


@dataclass(frozen=True, kw_only=True)
class HostCount:
    attempts: int
    """Attempts that started in the window."""
    failed: int
    """Attempts of the window that failed."""
    duration_ms: int | None
    """The mean duration of an attempt; null without attempts."""
    raw: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)


@dataclass(frozen=True, kw_only=True)
class Period:
    """A UTC calendar month; start is included, end is not."""

    start: datetime
    """The first moment of the month."""
    end: datetime
    """The first moment of the next month."""
    raw: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)


@dataclass(frozen=True, kw_only=True)
class OrganizationDetailUsageExecutions:
    """Tasks whose dispatch started in the period; retries do not count."""

    used: int
    """How much is used."""
    limit: int | None
    """Null: no limit."""
    raw: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)


@dataclass(frozen=True, kw_only=True)
class OrganizationDetailUsageStorageBytes:
    """Stored payloads and captured responses; updated within seconds."""

    used: int
    """How much is used."""
    limit: int | None
    """Null: no limit."""
    raw: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)


@dataclass(frozen=True, kw_only=True)
class OrganizationDetailUsageWorkspaces:
    """Its workspaces."""

    used: int
    """How much is used."""
    limit: int
    """The maximum number."""
    raw: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)


@dataclass(frozen=True, kw_only=True)
class FieldError:
    path: str
    """The path of the field in the input."""
    code: str
    """A stable code, such as `required`."""
    message: str
    """A sentence that says what to do."""
    raw: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)


# Names of an earlier version.
Note = RunTimeNote
Operation = DeadLetterOperation
Settled = ReplayedDeadLetters
EndedTasks = CancelledTasks
