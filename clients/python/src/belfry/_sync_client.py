"""The synchronous client. `scripts/generate_sync.py` makes this file from `_async_client.py`."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Generic, Literal, TypeVar

import httpx

from . import models
from ._requests import (
    UNSET,
    JsonText,
    Unset,
    chosen,
    new_idempotency_key,
    new_task,
    path,
    retry_delay,
    time_after,
    to_json,
    to_query,
)
from ._version import version
from .errors import BelfryError, ConnectionError, TimeoutError, to_api_error
from .models import decode

T = TypeVar("T")

Time = datetime | str
"""A time: an aware datetime, or ISO 8601 text with `Z` or an offset."""
OneOrMore = str | Sequence[str]
"""Several values of one filter mean "or"; different filters mean "and"."""
RetryPolicy = Mapping[Literal["max_retries", "backoff", "base_delay_ms", "max_delay_ms", "delays_ms"], Any]
_scheduler = "/api/v1/scheduler"


class _Http:
    """Sends requests, repeats them when that is safe, and reads the answers."""

    def __init__(self, client: httpx.Client, headers: dict[str, str], max_retries: int) -> None:
        self.client = client
        self._headers = headers
        self._max_retries = max_retries

    def send(
        self,
        method: str,
        target: str,
        *,
        body: Mapping[str, Any] | None = None,
        query: Mapping[str, Any] | None = None,
        idempotency_key: str | None = None,
    ) -> Any:
        is_repeatable = method in ("GET", "PUT") or idempotency_key is not None
        headers = dict(self._headers)
        if idempotency_key is not None:
            headers["Idempotency-Key"] = idempotency_key
        content = None if body is None else to_json(body)
        if content is not None:
            headers["Content-Type"] = "application/json"
        attempt = 1
        while True:
            try:
                return self._attempt(method, target, headers, content, to_query(query or {}))
            except BelfryError as error:
                delay = None if attempt > self._max_retries else retry_delay(error, attempt, is_repeatable)
                if delay is None:
                    raise
            time.sleep(delay)
            attempt += 1

    def create(
        self, target: str, body: Mapping[str, Any] | None, idempotency_key: str | None
    ) -> Any:
        return self.send(
            "POST", target, body=body, idempotency_key=idempotency_key or new_idempotency_key()
        )

    def _attempt(
        self, method: str, target: str, headers: dict[str, str], content: bytes | None, query: Any
    ) -> Any:
        try:
            response = self.client.request(method, target, headers=headers, content=content, params=query)
        except httpx.TimeoutException as error:
            raise TimeoutError(f"{method} {target} was not answered in time.") from error
        except httpx.TransportError as error:
            raise ConnectionError(f"{method} {target} failed: {error}") from error
        if response.status_code == 204:
            return None
        is_json = "json" in response.headers.get("content-type", "")
        try:
            answer = response.json() if is_json else response.text
        except ValueError as error:
            raise ConnectionError(f"The response to {method} {target} is not complete.") from error
        if response.is_success and is_json:
            return answer
        if response.status_code < 400:
            raise BelfryError(f"The response to {method} {target} is not JSON. Is base_url the URL of Belfry?")
        raise to_api_error(response.status_code, answer, response.headers, f"{method} {target}")


class List(Generic[T]):
    """A list: iterate over it for all items, page by page; `first_page` returns the first page."""

    def __init__(self, http: _Http, target: str, kind: type[T], filters: Mapping[str, Any]) -> None:
        self._http = http
        self._target = target
        self._kind = kind
        self._filters = filters

    def first_page(self) -> models.Page[T]:
        """Returns the first page. Pass its `next_cursor` as `cursor` to read the second one."""
        return self._page(None)

    def __iter__(self) -> Iterator[T]:
        page = self._page(None)
        while True:
            for item in page.data:
                yield item
            if page.next_cursor is None:
                return
            page = self._page(page.next_cursor)

    def _page(self, cursor: str | None) -> models.Page[T]:
        query = {**self._filters, "cursor": cursor or self._filters.get("cursor")}
        answer = self._http.send("GET", self._target, query=query)
        return models.Page([decode(self._kind, item) for item in answer["data"]], answer["next_cursor"])


class Tasks:
    """Requests at a future time."""

    def __init__(self, http: _Http) -> None:
        self._http = http

    def create(
        self,
        *,
        target_url: str,
        execute_at: Time | None = None,
        delay: timedelta | str | None = None,
        name: str | None = None,
        method: str = "POST",
        payload: Any = UNSET,
        headers: Mapping[str, str] | Unset = UNSET,
        retry: RetryPolicy | Unset = UNSET,
        timeout_ms: int | Unset = UNSET,
        queue: str | Mapping[str, Any] | Unset = UNSET,
        expires_at: Time | Unset = UNSET,
        key: str | Unset = UNSET,
        on_conflict: Literal["reject", "keep", "replace"] | Unset = UNSET,
        labels: Sequence[str] | Unset = UNSET,
        on_success: Mapping[str, Any] | Unset = UNSET,
        on_failure: Mapping[str, Any] | Unset = UNSET,
        on_attempt: Mapping[str, Any] | Unset = UNSET,
        idempotency_key: str | None = None,
        **more: Any,
    ) -> models.Task:
        """Schedules a task. It is stored when this returns. Retries are safe.

        Args:
            target_url: An absolute http(s) URL, at most 2,048 characters.
            execute_at: The time of the request, in the future. Pass this or `delay`.
            delay: The time from now by this machine's clock: a timedelta, or text such as `90s`, `1h30m` or `2d`.
            name: A display name of 1 to 200 characters. Default: the method and the URL without its query.
            payload: A JSON value, or `JsonText`, which Belfry sends byte for byte.
            retry: Any of `max_retries` (0 to 20, default 5), `backoff` (`exponential`, `linear` or `fixed`),
                `base_delay_ms` (default 10,000) and `max_delay_ms` (default 3,600,000). Or `delays_ms` alone: the exact
                delay before each retry.
            timeout_ms: The time limit of an attempt, 1,000 to 900,000. Default 30,000.
            queue: The name of a queue, or its name with limits: `{"name": "crm", "max_concurrent": 3}`.
            expires_at: No attempt starts at this time or later.
            key: A key that is unique among the pending tasks of the workspace. `on_conflict` says what happens to a
                second task: `reject` (the default), `keep` the pending one, or `replace` its request and time.
            labels: At most 10 labels.
            on_success, on_failure, on_attempt: Requests that report the outcome:
                `{"url": ..., "headers": ..., "retry": ..., "timeout_ms": ...}`.
            idempotency_key: Requests with the same key create only once within 24 hours. Default: a random key.
            more: Fields of the HTTP API that this version does not name.

        Raises:
            ValidationError: A field is invalid, or the time is not in the future.
        """
        fields = {
            "execute_at": time_after(delay, execute_at),
            "payload": payload,
            "headers": headers,
            "retry": retry,
            "timeout_ms": timeout_ms,
            "queue": queue,
            "expires_at": expires_at,
            "key": key,
            "on_conflict": on_conflict,
            "labels": labels,
            "on_success": on_success,
            "on_failure": on_failure,
            "on_attempt": on_attempt,
            **more,
        }
        body = new_task(fields, target_url, method, name)
        return decode(models.Task, self._http.create(f"{_scheduler}/tasks", body, idempotency_key))

    def create_many(
        self, tasks: Sequence[Mapping[str, Any]], *, idempotency_key: str | None = None
    ) -> Sequence[models.BatchResult]:
        """Schedules up to 1,000 tasks. An invalid task fails alone, so check the `error` of each result.

        Args:
            tasks: The arguments of `create` for each task.
        """
        bodies = []
        for task in tasks:
            fields = dict(task)
            url, method, name = fields.pop("target_url"), fields.pop("method", "POST"), fields.pop("name", None)
            fields["execute_at"] = time_after(fields.pop("delay", None), fields.get("execute_at"))
            bodies.append(new_task(fields, url, method, name))
        answer = self._http.create(f"{_scheduler}/tasks/batch", {"tasks": bodies}, idempotency_key)
        return [decode(models.BatchResult, result) for result in answer["data"]]

    def get(self, id: str) -> models.Task:
        """Returns a task. Raises `NotFoundError`."""
        return decode(models.Task, self._http.send("GET", path(f"{_scheduler}/tasks/{{}}", id)))

    def list(
        self,
        *,
        state: OneOrMore | None = None,
        source: OneOrMore | None = None,
        cronjob_id: OneOrMore | None = None,
        event_id: OneOrMore | None = None,
        topic: OneOrMore | None = None,
        label: OneOrMore | None = None,
        queue: OneOrMore | None = None,
        callback_of: OneOrMore | None = None,
        name: str | None = None,
        since: Time | None = None,
        until: Time | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        **more: Any,
    ) -> List[models.Task]:
        """Lists tasks, newest first.

        Args:
            name: The beginning of the name.
            since, until: `since` ≤ `execute_at` < `until`.
            limit: Items per page, 1 to 100. Default 25.
        """
        filters = dict(
            more, state=state, source=source, cronjob_id=cronjob_id, event_id=event_id, topic=topic, label=label,
            queue=queue, callback_of=callback_of, name=name, to=until, limit=limit, cursor=cursor,
        )
        return List(self._http, f"{_scheduler}/tasks", models.Task, {**filters, "from": since})

    def update(self, id: str, **changes: Any) -> models.Task:
        """Changes a pending task: any argument of `create`, with `url` or `target_url`.

        Raises:
            ConflictError: The task is not pending (`task_not_pending`).
        """
        body = {("url" if field == "target_url" else field): value for field, value in changes.items()}
        if "delay" in body:
            body["execute_at"] = time_after(body.pop("delay"), body.get("execute_at"))
        answer = self._http.send("PATCH", path(f"{_scheduler}/tasks/{{}}", id), body=body)
        return decode(models.Task, answer)

    def cancel(self, id: str) -> models.Task:
        """Cancels a pending task. Once this returns, its request was not and will not be sent.

        Raises:
            ConflictError: The task is not pending (`task_not_pending`).
        """
        return decode(models.Task, self._http.send("DELETE", path(f"{_scheduler}/tasks/{{}}", id)))

    def stop(self, id: str) -> models.Task:
        """Ends the retries of a task. It becomes dead with the reason `stopped`.

        Raises:
            ConflictError: The task is not retrying.
        """
        return decode(models.Task, self._http.send("POST", path(f"{_scheduler}/tasks/{{}}/stop", id)))

    def cancel_many(
        self, ids: Sequence[str] | None = None, *, filter: Mapping[str, Any] | None = None
    ) -> models.EndedTasks:
        """Cancels pending tasks: at most 100 ids, or a filter with the fields of `list`; `{}` selects all."""
        return self._end_many("cancel", ids, filter)

    def stop_many(
        self, ids: Sequence[str] | None = None, *, filter: Mapping[str, Any] | None = None
    ) -> models.EndedTasks:
        """Stops retrying tasks: at most 100 ids, or a filter with the fields of `list`; `{}` selects all."""
        return self._end_many("stop", ids, filter)

    def operation(self, id: str) -> models.TaskOperation:
        """Returns the progress of a cancel or stop in the background."""
        target = path(f"{_scheduler}/tasks/operations/{{}}", id)
        return decode(models.TaskOperation, self._http.send("GET", target))

    def _end_many(
        self, verb: str, ids: Sequence[str] | None, filter: Mapping[str, Any] | None
    ) -> models.EndedTasks:
        answer = self._http.send("POST", f"{_scheduler}/tasks/{verb}", body=chosen(ids, filter))
        return decode(models.EndedTasks, answer)

    def replay(self, id: str, *, idempotency_key: str | None = None) -> models.Task:
        """Replays a finished task as a new task that is due at once. Retries are safe."""
        answer = self._http.create(path(f"{_scheduler}/tasks/{{}}/replay", id), None, idempotency_key)
        return decode(models.Task, answer)


class CronJobs:
    """Recurring requests."""

    def __init__(self, http: _Http) -> None:
        self._http = http

    def create(
        self,
        *,
        target_url: str,
        cron: str,
        timezone: str | Unset = UNSET,
        name: str | None = None,
        method: str = "POST",
        payload: Any = UNSET,
        headers: Mapping[str, str] | Unset = UNSET,
        retry: RetryPolicy | Unset = UNSET,
        timeout_ms: int | Unset = UNSET,
        overlap: Literal["allow", "skip"] | Unset = UNSET,
        catch_up: Literal["latest", "all", "none"] | Unset = UNSET,
        starts_at: Time | None | Unset = UNSET,
        ends_at: Time | None | Unset = UNSET,
        idempotency_key: str | None = None,
        **more: Any,
    ) -> models.CronJob:
        """Creates a cron job. It is stored when this returns. Retries are safe.

        Args:
            cron: Five fields: minute, hour, day of month, month, day of week.
            timezone: An IANA zone such as `Europe/Berlin`. Default `UTC`.
            overlap: Whether a run starts while an earlier one is unfinished. Default `allow`.
            catch_up: Which missed runs are made up for after an outage. Default `latest`.
        """
        fields = {
            "cron": cron,
            "timezone": timezone,
            "payload": payload,
            "headers": headers,
            "retry": retry,
            "timeout_ms": timeout_ms,
            "overlap": overlap,
            "catch_up": catch_up,
            "starts_at": starts_at,
            "ends_at": ends_at,
            **more,
        }
        body = new_task(fields, target_url, method, name)
        return decode(models.CronJob, self._http.create(f"{_scheduler}/cronjobs", body, idempotency_key))

    def get(self, id: str) -> models.CronJob:
        """Returns a cron job with its next five runs. Raises `NotFoundError`."""
        return decode(models.CronJob, self._http.send("GET", path(f"{_scheduler}/cronjobs/{{}}", id)))

    def list(
        self,
        *,
        status: OneOrMore | None = None,
        name: str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        **more: Any,
    ) -> List[models.CronJob]:
        """Lists cron jobs, newest first."""
        filters = dict(more, status=status, name=name, limit=limit, cursor=cursor)
        return List(self._http, f"{_scheduler}/cronjobs", models.CronJob, filters)

    def update(self, id: str, **changes: Any) -> models.CronJob:
        """Changes a cron job. A new `cron` or `timezone` replaces the runs that have not started."""
        body = {("url" if field == "target_url" else field): value for field, value in changes.items()}
        answer = self._http.send("PATCH", path(f"{_scheduler}/cronjobs/{{}}", id), body=body)
        return decode(models.CronJob, answer)

    def delete(self, id: str) -> None:
        """Deletes a cron job, and cancels its runs that have not started."""
        self._http.send("DELETE", path(f"{_scheduler}/cronjobs/{{}}", id))

    def pause(self, id: str) -> models.CronJob:
        """Pauses a cron job. No run starts after this returns."""
        return decode(models.CronJob, self._move(id, "pause"))

    def resume(self, id: str) -> models.CronJob:
        """Resumes a cron job from now on. Runs missed during the pause are skipped."""
        return decode(models.CronJob, self._move(id, "resume"))

    def trigger(self, id: str) -> models.Task:
        """Runs a cron job once, immediately, in addition to its schedule."""
        return decode(models.Task, self._move(id, "trigger"))

    def preview(
        self, *, cron: str, timezone: str | Unset = UNSET, since: Time | Unset = UNSET, count: int | Unset = UNSET
    ) -> models.CronPreview:
        """Describes an expression in English, and returns its next runs strictly after `since`. Default: now."""
        body = {"cron": cron, "timezone": timezone, "from": since, "count": count}
        return decode(models.CronPreview, self._http.send("POST", f"{_scheduler}/cronjobs/preview", body=body))

    def _move(self, id: str, verb: str) -> Any:
        return self._http.send("POST", path(f"{_scheduler}/cronjobs/{{}}/{verb}", id))


class Events:
    """Immediate requests."""

    def __init__(self, http: _Http) -> None:
        self._http = http

    def publish(
        self,
        *,
        topic: str,
        payload: Mapping[str, Any] | JsonText,
        target_url: str | Unset = UNSET,
        headers: Mapping[str, str] | Unset = UNSET,
        retry: RetryPolicy | Unset = UNSET,
        timeout_ms: int | Unset = UNSET,
        idempotency_key: str | None = None,
        **more: Any,
    ) -> models.PublishedEvent:
        """Publishes an event to `target_url` or to every matching subscription. It is stored when this returns."""
        body = {
            "topic": topic,
            "payload": payload if isinstance(payload, JsonText) else dict(payload),
            "target_url": target_url,
            "headers": headers,
            "retry": retry,
            "timeout_ms": timeout_ms,
            **more,
        }
        return decode(models.PublishedEvent, self._http.create("/api/events", body, idempotency_key))


class Subscriptions:
    """Targets that receive every event with a matching topic."""

    def __init__(self, http: _Http) -> None:
        self._http = http

    def create(self, *, topic: str, target_url: str, **more: Any) -> models.Subscription:
        """Creates a subscription, which receives every event with a matching topic from now on.

        Args:
            topic: An exact topic, `orders.*` for all topics below `orders`, or `*` for all topics.
            more: `headers`, `retry`, `timeout_ms` and `active`.
        """
        body = {"topic": topic, "url": target_url, **more}
        return decode(models.Subscription, self._http.send("POST", f"{_scheduler}/subscriptions", body=body))

    def get(self, id: str) -> models.Subscription:
        """Returns a subscription. Raises `NotFoundError`."""
        return decode(models.Subscription, self._http.send("GET", path(f"{_scheduler}/subscriptions/{{}}", id)))

    def list(self, *, limit: int | None = None, cursor: str | None = None) -> List[models.Subscription]:
        """Lists subscriptions, newest first."""
        page = {"limit": limit, "cursor": cursor}
        return List(self._http, f"{_scheduler}/subscriptions", models.Subscription, page)

    def update(self, id: str, **changes: Any) -> models.Subscription:
        """Changes a subscription for later events."""
        body = {("url" if field == "target_url" else field): value for field, value in changes.items()}
        answer = self._http.send("PATCH", path(f"{_scheduler}/subscriptions/{{}}", id), body=body)
        return decode(models.Subscription, answer)

    def delete(self, id: str) -> None:
        """Deletes a subscription. Earlier events are still delivered."""
        self._http.send("DELETE", path(f"{_scheduler}/subscriptions/{{}}", id))


class Runs:
    """The activity log: one run per attempt."""

    def __init__(self, http: _Http) -> None:
        self._http = http

    def list(
        self,
        *,
        status: OneOrMore | None = None,
        task_id: OneOrMore | None = None,
        cronjob_id: OneOrMore | None = None,
        topic: OneOrMore | None = None,
        source: OneOrMore | None = None,
        response_status: int | OneOrMore | None = None,
        error: OneOrMore | None = None,
        host: OneOrMore | None = None,
        name: str | None = None,
        since: Time | None = None,
        until: Time | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        **more: Any,
    ) -> List[models.Run]:
        """Lists runs, newest first, without their requests and responses.

        Args:
            response_status: A status such as 500, or a class such as `5xx`.
            more: Filters that leave out runs, such as `not_host` and `not_response_status`.
            since, until: `since` ≤ `started_at` < `until`.
        """
        filters = dict(
            more, status=status, task_id=task_id, cronjob_id=cronjob_id, topic=topic, source=source,
            response_status=response_status, error=error, host=host, name=name, to=until, limit=limit, cursor=cursor,
        )
        return List(self._http, f"{_scheduler}/runs", models.Run, {**filters, "from": since})

    def get(self, id: str) -> models.Run:
        """Returns a run with its full request and response."""
        return decode(models.Run, self._http.send("GET", path(f"{_scheduler}/runs/{{}}", id)))


class DeadLetters:
    """Tasks that failed for good, until they are replayed or discarded."""

    def __init__(self, http: _Http) -> None:
        self._http = http

    def list(self, **filters: Any) -> List[models.Task]:
        """Lists dead letters, newest first, by the filters of tasks without `state`, `host` and `error` of the last run."""
        filters = {{"since": "from", "until": "to"}.get(name, name): value for name, value in filters.items()}
        return List(self._http, f"{_scheduler}/dead-letters", models.Task, filters)

    def replay(
        self,
        ids: Sequence[str] | None = None,
        *,
        filter: Mapping[str, Any] | None = None,
        per_second: int | None = None,
    ) -> models.Settled:
        """Replays dead letters as new tasks: at most 100 ids, or a filter; `{}` selects all.

        Args:
            per_second: How many are due per second, at most 1,000. By default all are due at once.
        """
        return self._settle("replay", ids, filter, per_second=per_second)

    def discard(
        self, ids: Sequence[str] | None = None, *, filter: Mapping[str, Any] | None = None
    ) -> models.Settled:
        """Removes dead letters from the list: at most 100 ids, or a filter; `{}` selects all."""
        return self._settle("discard", ids, filter)

    def operation(self, id: str) -> models.Operation:
        """Returns the progress of a replay or discard in the background."""
        target = path(f"{_scheduler}/dead-letters/operations/{{}}", id)
        return decode(models.Operation, self._http.send("GET", target))

    def cancel_operation(self, id: str) -> models.Operation:
        """Stops an operation. Raises `ConflictError` when it has ended."""
        target = path(f"{_scheduler}/dead-letters/operations/{{}}", id)
        return decode(models.Operation, self._http.send("DELETE", target))

    def _settle(
        self, verb: str, ids: Sequence[str] | None, filter: Mapping[str, Any] | None, **more: Any
    ) -> models.Settled:
        answer = self._http.send("POST", f"{_scheduler}/dead-letters/{verb}", body=chosen(ids, filter, **more))
        return decode(models.Settled, answer)


class Queues:
    """Queues, which limit how many attempts of their tasks start."""

    def __init__(self, http: _Http) -> None:
        self._http = http

    def list(self, *, limit: int | None = None, cursor: str | None = None, **more: Any) -> List[models.Queue]:
        """Lists queues by name, with what they contain now."""
        return List(self._http, f"{_scheduler}/queues", models.Queue, dict(more, limit=limit, cursor=cursor))

    def get(self, name: str) -> models.Queue:
        """Returns a queue. Raises `NotFoundError`."""
        return decode(models.Queue, self._http.send("GET", path(f"{_scheduler}/queues/{{}}", name)))

    def put(
        self,
        name: str,
        *,
        max_concurrent: int | None = None,
        rate_limit: Mapping[Literal["count", "period_ms"], int] | None = None,
        ordered: bool = False,
    ) -> models.Queue:
        """Creates a queue, or replaces all of its limits.

        Args:
            max_concurrent: Attempts in flight at a time over all dispatchers, 1 to 1,000.
            rate_limit: At most `count` attempts start within any period of `period_ms`.
            ordered: One task at a time, in the order of `execute_at`.
        """
        body = {"max_concurrent": max_concurrent, "rate_limit": rate_limit, "ordered": ordered}
        return decode(models.Queue, self._http.send("PUT", path(f"{_scheduler}/queues/{{}}", name), body=body))

    def update(self, name: str, **limits: Any) -> models.Queue:
        """Changes limits of a queue. Omitted limits stay unchanged."""
        target = path(f"{_scheduler}/queues/{{}}", name)
        return decode(models.Queue, self._http.send("PATCH", target, body=limits))

    def pause(self, name: str) -> models.Queue:
        """Pauses a queue: its tasks wait until it is resumed."""
        return decode(models.Queue, self._http.send("POST", path(f"{_scheduler}/queues/{{}}/pause", name)))

    def resume(self, name: str) -> models.Queue:
        """Resumes a paused queue."""
        return decode(models.Queue, self._http.send("POST", path(f"{_scheduler}/queues/{{}}/resume", name)))

    def delete(self, name: str) -> None:
        """Deletes the settings of a queue. Raises `ConflictError` (`queue_in_use`) while something uses it."""
        self._http.send("DELETE", path(f"{_scheduler}/queues/{{}}", name))


class Workspaces:
    """Workspaces, with their members, secrets and signing secrets. `current` is the workspace of the API key."""

    def __init__(self, http: _Http) -> None:
        self._http = http

    def get(self, id: str = "current") -> models.Workspace:
        """Returns a workspace. Raises `NotFoundError`."""
        return decode(models.Workspace, self._http.send("GET", path("/api/v1/workspaces/{}", id)))

    def members(self, id: str = "current") -> List[models.WorkspaceMember]:
        """Lists the members of a workspace with their roles."""
        return List(self._http, path("/api/v1/workspaces/{}/members", id), models.WorkspaceMember, {})

    def secrets(self, id: str = "current") -> List[models.Secret]:
        """Lists the names of secrets. Values are never returned."""
        return List(self._http, path("/api/v1/workspaces/{}/secrets", id), models.Secret, {})

    def put_secret(self, name: str, value: str, *, id: str = "current", **more: Any) -> models.Secret:
        """Creates or replaces a secret. Requests refer to it as `{{ secrets.NAME }}`."""
        target = path("/api/v1/workspaces/{}/secrets/{}", id, name)
        return decode(models.Secret, self._http.send("PUT", target, body={"value": value, **more}))

    def delete_secret(self, name: str, *, id: str = "current") -> None:
        """Deletes a secret. Tasks that still refer to it fail with `secret_missing`."""
        self._http.send("DELETE", path("/api/v1/workspaces/{}/secrets/{}", id, name))

    def signing_keys(self, id: str) -> List[models.SigningKey]:
        """Lists the public keys that verify `v1a` signatures, the current one first. It needs no API key."""
        return List(self._http, path("/api/v1/workspaces/{}/signing-keys", id), models.SigningKey, {})

    def signing_secrets(self, id: str = "current") -> List[models.SigningSecret]:
        """Lists the current signing secret and, during a rotation, the previous one."""
        return List(self._http, path("/api/v1/workspaces/{}/signing-secrets", id), models.SigningSecret, {})


class Organizations:
    """Organizations. An API key reads the one of its workspace; everything else requires a session token."""

    def __init__(self, http: _Http) -> None:
        self._http = http

    def create(self, *, name: str) -> models.Organization:
        """Creates an organization. The signed-in user becomes its owner."""
        return decode(models.Organization, self._http.send("POST", "/api/v1/organizations", body={"name": name}))

    def list(self) -> List[models.Organization]:
        """Lists the organizations of the signed-in user."""
        return List(self._http, "/api/v1/organizations", models.Organization, {})

    def get(self, id: str) -> models.Organization:
        """Returns an organization."""
        return decode(models.Organization, self._http.send("GET", path("/api/v1/organizations/{}", id)))

    def update(self, id: str, **changes: Any) -> models.Organization:
        """Changes the `name`, `slug` or `policy` of an organization."""
        answer = self._http.send("PATCH", path("/api/v1/organizations/{}", id), body=changes)
        return decode(models.Organization, answer)

    def members(self, id: str) -> List[models.Member]:
        """Lists the members of an organization with their roles."""
        return List(self._http, path("/api/v1/organizations/{}/members", id), models.Member, {})

    def workspaces(self, id: str) -> List[models.Workspace]:
        """Lists the workspaces that the caller can see: with an API key, only its own."""
        return List(self._http, path("/api/v1/organizations/{}/workspaces", id), models.Workspace, {})


class Belfry:
    """A client of a Belfry installation. Close it, or use it in `with`.

    Args:
        api_key: The API key of a workspace. Default: the environment variable `BELFRY_API_KEY`.
        base_url: Default: the environment variable `BELFRY_URL`, or `http://localhost:3000`.
        session_token: The session token of a signed-in user, instead of an API key.
        workspace_id: With a session token: the workspace of tasks, cron jobs, events and runs.
        timeout: The time limit of connecting, and of each read and write, in seconds.
        max_retries: The maximum number of retries, which are made only when they are safe.
        transport: A transport of httpx, for tests and proxies.
    """

    def __init__(
        self,
        api_key: str | None = None,
        *,
        base_url: str | None = None,
        session_token: str | None = None,
        workspace_id: str | None = None,
        timeout: float = 30,
        max_retries: int = 2,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        key = api_key or (None if session_token else os.environ.get("BELFRY_API_KEY"))
        if not key and not session_token:
            raise ValueError("There is no API key. Set BELFRY_API_KEY, or pass api_key or session_token.")
        headers = {"Accept": "application/json", "User-Agent": f"belfry-python/{version}"}
        headers.update({"X-Api-Key": key} if key else {"Authorization": f"Bearer {session_token}"})
        if workspace_id and not key:
            headers["X-Workspace-Id"] = workspace_id
        url = base_url or os.environ.get("BELFRY_URL") or "http://localhost:3000"
        # A redirect could send the key to another server, so none is followed.
        client = httpx.Client(base_url=url, timeout=timeout, transport=transport, follow_redirects=False)
        self._http = http = _Http(client, headers, max_retries)
        self.tasks = Tasks(http)
        self.cron_jobs = CronJobs(http)
        self.events = Events(http)
        self.queues = Queues(http)
        self.subscriptions = Subscriptions(http)
        self.runs = Runs(http)
        self.dead_letters = DeadLetters(http)
        self.workspaces = Workspaces(http)
        self.organizations = Organizations(http)

    def close(self) -> None:
        """Closes the connections."""
        self._http.client.close()

    def __enter__(self) -> Belfry:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
