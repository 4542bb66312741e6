"""The synchronous client. `npm run clients` makes this file from the operations of the API."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import timedelta
from typing import Any, Literal

from . import models
from ._sync_http import Client, Http, List
from ._decode import decode
from ._json import JsonText
from ._requests import (
    UNSET,
    OneOrMore,
    Time,
    Unset,
    batch_body,
    changed_time,
    chosen,
    in_zone,
    new_task,
    path,
    time_after,
)



class Tasks:
    """Requests at a future time."""

    def __init__(self, http: Http) -> None:
        self._http = http

    def list(
        self,
        *,
        state: OneOrMore | None = None,
        state_reason: OneOrMore | None = None,
        source: OneOrMore | None = None,
        cronjob_id: OneOrMore | None = None,
        event_id: OneOrMore | None = None,
        callback_of: OneOrMore | None = None,
        topic: OneOrMore | None = None,
        queue: OneOrMore | None = None,
        label: OneOrMore | None = None,
        name: str | None = None,
        host: OneOrMore | None = None,
        since: Time | None = None,
        until: Time | None = None,
        upcoming: bool | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        **more: Any,
    ) -> List[models.Task]:
        """List tasks, newest first.

        Args:
            state: The states of the tasks.
            state_reason: Why the tasks ended without the outcome of an attempt.
            source: What created the tasks.
            cronjob_id: The cron jobs.
            event_id: The events that created the tasks. Later replays are left out.
            callback_of: The tasks that these callbacks report.
            topic: The topics of the tasks.
            queue: The names of the queues.
            label: Labels, of which at least one is present.
            name: The beginning of the name.
            host: Hosts, with their ports where the URLs have one.
            since: Only items at this time or later, in RFC 3339 with an offset or `Z`.
            until: Only items before this time, in RFC 3339 with an offset or `Z`.
            upcoming: `false` leaves out the occurrences of cron jobs that are not due yet, `true` all other
                tasks.
            limit: Items per page. Default: 25.
            cursor: The `next_cursor` of the previous page.
        """
        return List(self._http, "/api/v1/scheduler/tasks", models.Task, {
            **more,
            "state": state,
            "state_reason": state_reason,
            "source": source,
            "cronjob_id": cronjob_id,
            "event_id": event_id,
            "callback_of": callback_of,
            "topic": topic,
            "queue": queue,
            "label": label,
            "name": name,
            "host": host,
            "from": since,
            "to": until,
            "upcoming": upcoming,
            "limit": limit,
            "cursor": cursor,
        })

    def create(
        self,
        *,
        target_url: str,
        execute_at: Time | Unset = UNSET,
        delay: timedelta | str | Unset = UNSET,
        name: str | None = None,
        method: str = "POST",
        headers: Mapping[str, Any] | Unset = UNSET,
        payload: Any | Unset = UNSET,
        payload_base64: str | Unset = UNSET,
        content_type: str | Unset = UNSET,
        timezone: str | Unset = UNSET,
        retry: Mapping[str, Any] | Unset = UNSET,
        timeout_ms: int | Unset = UNSET,
        queue: str | Mapping[str, Any] | None | Unset = UNSET,
        connection: str | None | Unset = UNSET,
        on_success: Mapping[str, Any] | None | Unset = UNSET,
        on_failure: Mapping[str, Any] | None | Unset = UNSET,
        on_attempt: Mapping[str, Any] | None | Unset = UNSET,
        expires_at: Time | None | Unset = UNSET,
        key: str | Unset = UNSET,
        on_conflict: Literal["reject", "keep", "replace"] | Unset = UNSET,
        on_past: Literal["reject", "run"] | Unset = UNSET,
        labels: Sequence[str] | Unset = UNSET,
        idempotency_key: str | None = None,
        **more: Any,
    ) -> models.Task:
        """Schedule a task. It is stored when the response arrives. With a `key` the response may be a pending
        task that was created earlier; see `on_conflict`.

        Args:
            name: A display name of 1 to 200 characters.
            target_url: An absolute http or https URL without user, password or fragment; may hold `{{
                secrets.NAME }}`.
            method: The HTTP method, in upper case.
            headers: Case-insensitive, unique names; at most 8,192 characters in total. Headers that Belfry or the
                connection sets are refused.
            payload: Any JSON value, forwarded unchanged except for `{{ secrets.NAME }}` in its strings.
            payload_base64: A body of any type in base64, sent as these bytes. Secrets are not filled in. Instead
                of `payload`.
            content_type: The content type of `payload_base64`. Default: the `Content-Type` header, or
                application/octet-stream.
            execute_at: In the future by the server’s clock, and not after the year 2099; with an offset, or in
                `timezone`.
            timezone: The IANA time zone of times without an offset. Where clocks skip the time, it is the end of
                the gap; a time that occurs twice is the first.
            retry: When failed attempts are repeated.
            timeout_ms: The time limit of an attempt, from connecting to the last byte, 1,000 to 900,000 ms.
                Default 30,000.
            queue: The queue that limits the attempts: its name, alone or with limits to set. Null: no queue.
            connection: The name of the connection that authenticates the calls. Null: none.
            on_success: The request that reports the success of a task. Null: no such request.
            on_failure: The request that reports that a task is dead. Null: no such request.
            on_attempt: The request that reports each attempt. Null: no such request.
            expires_at: Later than the time of the task: no attempt starts then or later. Null: no deadline.
            key: Unique among the pending tasks of the workspace.
            on_conflict: When a pending task has the key: `reject` (the default) answers 409, `keep` returns that
                task, `replace` gives it this request and time.
            on_past: When execute_at is not in the future: `reject` (the default) answers 400, `run` makes the
                call due at once.
            labels: Up to 10 labels, to filter by. A label may end in a placeholder for a member of the payload.
                It is left out when the member is missing or makes no valid label.

        Raises:
            ConflictError: `key_in_use`.
        """
        fields = {
            "headers": headers,
            "payload": payload,
            "payload_base64": payload_base64,
            "content_type": content_type,
            "execute_at": time_after(delay, execute_at),
            "timezone": timezone,
            "retry": retry,
            "timeout_ms": timeout_ms,
            "queue": queue,
            "connection": connection,
            "on_success": on_success,
            "on_failure": on_failure,
            "on_attempt": on_attempt,
            "expires_at": expires_at,
            "key": key,
            "on_conflict": on_conflict,
            "on_past": on_past,
            "labels": labels,
            **more,
        }
        return decode(models.Task, self._http.create("/api/v1/scheduler/tasks", new_task(fields, target_url, method, name), idempotency_key))

    def create_many(
        self, tasks: Sequence[Mapping[str, Any]], *, idempotency_key: str | None = None
    ) -> Sequence[models.BatchResult]:
        """Schedule up to 1,000 tasks; an invalid row does not affect the others. They are stored when the
        response arrives. An invalid task fails alone, so check the `error` of each result.

        Args:
            tasks: The arguments of `create` for each task.
        """
        answer = self._http.create("/api/v1/scheduler/tasks/batch", batch_body(tasks), idempotency_key)
        return [decode(models.BatchResult, result) for result in answer["data"]]

    def count(
        self,
        *,
        state: OneOrMore | None = None,
        state_reason: OneOrMore | None = None,
        source: OneOrMore | None = None,
        cronjob_id: OneOrMore | None = None,
        event_id: OneOrMore | None = None,
        callback_of: OneOrMore | None = None,
        topic: OneOrMore | None = None,
        queue: OneOrMore | None = None,
        label: OneOrMore | None = None,
        name: str | None = None,
        host: OneOrMore | None = None,
        since: Time | None = None,
        until: Time | None = None,
        upcoming: bool | None = None,
        **more: Any,
    ) -> models.TaskCount:
        """Count tasks, up to 10,000.

        Args:
            state: The states of the tasks.
            state_reason: Why the tasks ended without the outcome of an attempt.
            source: What created the tasks.
            cronjob_id: The cron jobs.
            event_id: The events that created the tasks. Later replays are left out.
            callback_of: The tasks that these callbacks report.
            topic: The topics of the tasks.
            queue: The names of the queues.
            label: Labels, of which at least one is present.
            name: The beginning of the name.
            host: Hosts, with their ports where the URLs have one.
            since: Only items at this time or later, in RFC 3339 with an offset or `Z`.
            until: Only items before this time, in RFC 3339 with an offset or `Z`.
            upcoming: `false` leaves out the occurrences of cron jobs that are not due yet, `true` all other
                tasks.
        """
        query = {
            **more,
            "state": state,
            "state_reason": state_reason,
            "source": source,
            "cronjob_id": cronjob_id,
            "event_id": event_id,
            "callback_of": callback_of,
            "topic": topic,
            "queue": queue,
            "label": label,
            "name": name,
            "host": host,
            "from": since,
            "to": until,
            "upcoming": upcoming,
        }
        return decode(models.TaskCount, self._http.send("GET", "/api/v1/scheduler/tasks/count", query=query))

    def cancel_many(
        self,
        ids: Sequence[str] | None = None,
        *,
        filter: Mapping[str, Any] | None = None,
    ) -> models.CancelledTasks:
        """Cancel pending tasks, by id or by filter. Skips tasks that are not pending.

        Args:
            ids: The ids of 1 to 100 tasks, instead of `filter`.
            filter: The filters of the list of tasks, except the state. An empty filter selects all.
        """
        return decode(models.CancelledTasks, self._http.send("POST", "/api/v1/scheduler/tasks/cancel", body=chosen(ids, filter)))

    def stop_many(
        self,
        ids: Sequence[str] | None = None,
        *,
        filter: Mapping[str, Any] | None = None,
    ) -> models.StoppedTasks:
        """Stop tasks that wait for a retry, by id or by filter: they are dead. Skips other tasks.

        Args:
            ids: The ids of 1 to 100 tasks, instead of `filter`.
            filter: The filters of the list of tasks, except the state. An empty filter selects all.
        """
        return decode(models.StoppedTasks, self._http.send("POST", "/api/v1/scheduler/tasks/stop", body=chosen(ids, filter)))

    def operation(self, id: str) -> models.TaskOperation:
        """Get the progress of a cancel or a stop in the background."""
        return decode(models.TaskOperation, self._http.send("GET", path("/api/v1/scheduler/tasks/operations/{}", id)))

    def progress(self, id: str, *, interval: float = 1) -> Iterator[models.TaskOperation]:
        """Yields each change of an operation's progress until it has ended. Asks every `interval` seconds."""
        before = None
        while True:
            now = self.operation(id)
            if now != before:
                yield now
            if now.status != "running":
                return
            before = now
            self._http.sleep(interval)

    def cancel_operation(self, id: str) -> models.TaskOperation:
        """Cancel a cancel or a stop in the background; what it has done stays done."""
        return decode(models.TaskOperation, self._http.send("DELETE", path("/api/v1/scheduler/tasks/operations/{}", id)))

    def export(
        self,
        *,
        state: OneOrMore | None = None,
        state_reason: OneOrMore | None = None,
        source: OneOrMore | None = None,
        cronjob_id: OneOrMore | None = None,
        event_id: OneOrMore | None = None,
        callback_of: OneOrMore | None = None,
        topic: OneOrMore | None = None,
        queue: OneOrMore | None = None,
        label: OneOrMore | None = None,
        name: str | None = None,
        host: OneOrMore | None = None,
        since: Time | None = None,
        until: Time | None = None,
        upcoming: bool | None = None,
        format: Literal["csv", "jsonl"] | None = None,
        **more: Any,
    ) -> Iterator[bytes]:
        """Export tasks as CSV or JSON Lines, newest first. The file may have any size.

        Args:
            state: The states of the tasks.
            state_reason: Why the tasks ended without the outcome of an attempt.
            source: What created the tasks.
            cronjob_id: The cron jobs.
            event_id: The events that created the tasks. Later replays are left out.
            callback_of: The tasks that these callbacks report.
            topic: The topics of the tasks.
            queue: The names of the queues.
            label: Labels, of which at least one is present.
            name: The beginning of the name.
            host: Hosts, with their ports where the URLs have one.
            since: Only items at this time or later, in RFC 3339 with an offset or `Z`.
            until: Only items before this time, in RFC 3339 with an offset or `Z`.
            upcoming: `false` leaves out the occurrences of cron jobs that are not due yet, `true` all other
                tasks.
            format: CSV with a header line, or one JSON object per line.
        """
        return self._http.stream("/api/v1/scheduler/tasks/export", {
            **more,
            "state": state,
            "state_reason": state_reason,
            "source": source,
            "cronjob_id": cronjob_id,
            "event_id": event_id,
            "callback_of": callback_of,
            "topic": topic,
            "queue": queue,
            "label": label,
            "name": name,
            "host": host,
            "from": since,
            "to": until,
            "upcoming": upcoming,
            "format": format,
        })

    def get(self, id: str) -> models.Task:
        """Read a task."""
        return decode(models.Task, self._http.send("GET", path("/api/v1/scheduler/tasks/{}", id)))

    def update(
        self,
        id: str,
        *,
        execute_at: Time | Unset = UNSET,
        delay: timedelta | str | Unset = UNSET,
        name: str | Unset = UNSET,
        target_url: str | Unset = UNSET,
        method: str | Unset = UNSET,
        headers: Mapping[str, Any] | Unset = UNSET,
        payload: Any | Unset = UNSET,
        payload_base64: str | Unset = UNSET,
        content_type: str | Unset = UNSET,
        timezone: str | Unset = UNSET,
        retry: Mapping[str, Any] | Unset = UNSET,
        timeout_ms: int | Unset = UNSET,
        queue: str | Mapping[str, Any] | None | Unset = UNSET,
        connection: str | None | Unset = UNSET,
        on_success: Mapping[str, Any] | None | Unset = UNSET,
        on_failure: Mapping[str, Any] | None | Unset = UNSET,
        on_attempt: Mapping[str, Any] | None | Unset = UNSET,
        expires_at: Time | None | Unset = UNSET,
        labels: Sequence[str] | Unset = UNSET,
        **more: Any,
    ) -> models.Task:
        """Change a pending task.

        Args:
            name: A display name of 1 to 200 characters.
            target_url: An absolute http or https URL without user, password or fragment; may hold `{{
                secrets.NAME }}`.
            method: The HTTP method, in upper case.
            headers: Case-insensitive, unique names; at most 8,192 characters in total. Headers that Belfry or the
                connection sets are refused.
            payload: Any JSON value, forwarded unchanged except for `{{ secrets.NAME }}` in its strings.
            payload_base64: A body of any type in base64, sent as these bytes. Secrets are not filled in. Instead
                of `payload`.
            content_type: The content type of `payload_base64`. Default: the `Content-Type` header, or
                application/octet-stream.
            execute_at: In the future by the server’s clock, and not after the year 2099; with an offset, or in
                `timezone`.
            timezone: The IANA time zone of times without an offset. Where clocks skip the time, it is the end of
                the gap; a time that occurs twice is the first.
            retry: When failed attempts are repeated.
            timeout_ms: The time limit of an attempt, from connecting to the last byte, 1,000 to 900,000 ms.
            queue: The queue that limits the attempts: its name, alone or with limits to set. Null: no queue.
            connection: The name of the connection that authenticates the calls. Null: none.
            on_success: The request that reports the success of a task. Null: no such request.
            on_failure: The request that reports that a task is dead. Null: no such request.
            on_attempt: The request that reports each attempt. Null: no such request.
            expires_at: Later than the time of the task: no attempt starts then or later. Null: no deadline.
            labels: Up to 10 labels, to filter by.

        Raises:
            ConflictError: `task_not_pending`.
        """
        fields = {
            "name": name,
            "url": target_url,
            "method": method if isinstance(method, Unset) else method.upper(),
            "headers": headers,
            "payload": payload,
            "payload_base64": payload_base64,
            "content_type": content_type,
            "execute_at": changed_time(delay, execute_at),
            "timezone": timezone,
            "retry": retry,
            "timeout_ms": timeout_ms,
            "queue": queue,
            "connection": connection,
            "on_success": on_success,
            "on_failure": on_failure,
            "on_attempt": on_attempt,
            "expires_at": expires_at,
            "labels": labels,
            **more,
        }
        return decode(models.Task, self._http.send("PATCH", path("/api/v1/scheduler/tasks/{}", id), body=in_zone(fields)))

    def cancel(self, id: str) -> models.Task:
        """Cancel a pending task. After the response, its request was not and will not be sent.

        Raises:
            ConflictError: `task_not_pending`.
        """
        return decode(models.Task, self._http.send("DELETE", path("/api/v1/scheduler/tasks/{}", id)))

    def stop(self, id: str) -> models.Task:
        """Stop a task that waits for a retry: it is dead.

        Raises:
            ConflictError: `task_not_retrying`.
        """
        return decode(models.Task, self._http.send("POST", path("/api/v1/scheduler/tasks/{}/stop", id)))

    def replay(
        self,
        id: str,
        *,
        execute_at: Time | Unset = UNSET,
        delay: timedelta | str | Unset = UNSET,
        name: str | Unset = UNSET,
        target_url: str | Unset = UNSET,
        method: str | Unset = UNSET,
        headers: Mapping[str, Any] | Unset = UNSET,
        payload: Any | Unset = UNSET,
        payload_base64: str | Unset = UNSET,
        content_type: str | Unset = UNSET,
        timezone: str | Unset = UNSET,
        retry: Mapping[str, Any] | Unset = UNSET,
        timeout_ms: int | Unset = UNSET,
        queue: str | Mapping[str, Any] | None | Unset = UNSET,
        connection: str | None | Unset = UNSET,
        on_success: Mapping[str, Any] | None | Unset = UNSET,
        on_failure: Mapping[str, Any] | None | Unset = UNSET,
        on_attempt: Mapping[str, Any] | None | Unset = UNSET,
        expires_at: Time | None | Unset = UNSET,
        labels: Sequence[str] | Unset = UNSET,
        idempotency_key: str | None = None,
        **more: Any,
    ) -> models.Task:
        """Replay a finished task, as a new task that is due at once. The body changes the new task, like `PATCH`
        does.

        Args:
            name: A display name of 1 to 200 characters.
            target_url: An absolute http or https URL without user, password or fragment; may hold `{{
                secrets.NAME }}`.
            method: The HTTP method, in upper case.
            headers: Case-insensitive, unique names; at most 8,192 characters in total. Headers that Belfry or the
                connection sets are refused.
            payload: Any JSON value, forwarded unchanged except for `{{ secrets.NAME }}` in its strings.
            payload_base64: A body of any type in base64, sent as these bytes. Secrets are not filled in. Instead
                of `payload`.
            content_type: The content type of `payload_base64`. Default: the `Content-Type` header, or
                application/octet-stream.
            execute_at: In the future by the server’s clock, and not after the year 2099; with an offset, or in
                `timezone`.
            timezone: The IANA time zone of times without an offset. Where clocks skip the time, it is the end of
                the gap; a time that occurs twice is the first.
            retry: When failed attempts are repeated.
            timeout_ms: The time limit of an attempt, from connecting to the last byte, 1,000 to 900,000 ms.
            queue: The queue that limits the attempts: its name, alone or with limits to set. Null: no queue.
            connection: The name of the connection that authenticates the calls. Null: none.
            on_success: The request that reports the success of a task. Null: no such request.
            on_failure: The request that reports that a task is dead. Null: no such request.
            on_attempt: The request that reports each attempt. Null: no such request.
            expires_at: Later than the time of the task: no attempt starts then or later. Null: no deadline.
            labels: Up to 10 labels, to filter by.

        Raises:
            ConflictError: `task_not_finished`.
        """
        fields = {
            "name": name,
            "url": target_url,
            "method": method if isinstance(method, Unset) else method.upper(),
            "headers": headers,
            "payload": payload,
            "payload_base64": payload_base64,
            "content_type": content_type,
            "execute_at": changed_time(delay, execute_at),
            "timezone": timezone,
            "retry": retry,
            "timeout_ms": timeout_ms,
            "queue": queue,
            "connection": connection,
            "on_success": on_success,
            "on_failure": on_failure,
            "on_attempt": on_attempt,
            "expires_at": expires_at,
            "labels": labels,
            **more,
        }
        return decode(models.Task, self._http.create(path("/api/v1/scheduler/tasks/{}/replay", id), in_zone(fields), idempotency_key))


class CronJobs:
    """Recurring requests."""

    def __init__(self, http: Http) -> None:
        self._http = http

    def list(
        self,
        *,
        status: OneOrMore | None = None,
        label: OneOrMore | None = None,
        name: str | None = None,
        host: OneOrMore | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        **more: Any,
    ) -> List[models.CronJob]:
        """List cron jobs, newest first.

        Args:
            status: The statuses.
            label: Labels, of which at least one is present.
            name: The beginning of the name.
            host: Hosts, with their ports where the URLs have one.
            limit: Items per page. Default: 25.
            cursor: The `next_cursor` of the previous page.
        """
        return List(self._http, "/api/v1/scheduler/cronjobs", models.CronJob, {
            **more,
            "status": status,
            "label": label,
            "name": name,
            "host": host,
            "limit": limit,
            "cursor": cursor,
        })

    def create(
        self,
        *,
        target_url: str,
        cron: str,
        name: str | None = None,
        method: str = "POST",
        key: str | Unset = UNSET,
        headers: Mapping[str, Any] | Unset = UNSET,
        payload: Any | Unset = UNSET,
        payload_base64: str | Unset = UNSET,
        content_type: str | Unset = UNSET,
        timezone: str | Unset = UNSET,
        retry: Mapping[str, Any] | Unset = UNSET,
        timeout_ms: int | Unset = UNSET,
        queue: str | Mapping[str, Any] | None | Unset = UNSET,
        connection: str | None | Unset = UNSET,
        on_success: Mapping[str, Any] | None | Unset = UNSET,
        on_failure: Mapping[str, Any] | None | Unset = UNSET,
        on_attempt: Mapping[str, Any] | None | Unset = UNSET,
        overlap: Literal["allow", "skip"] | Unset = UNSET,
        catch_up: Literal["latest", "all", "none"] | Unset = UNSET,
        starts_at: Time | None | Unset = UNSET,
        ends_at: Time | None | Unset = UNSET,
        max_age_ms: int | None | Unset = UNSET,
        labels: Sequence[str] | Unset = UNSET,
        idempotency_key: str | None = None,
        **more: Any,
    ) -> models.CronJob:
        """Create a cron job. It is stored when the response arrives.

        Args:
            key: A key of your choice, unique among the objects of this kind in the workspace.
            name: A display name of 1 to 200 characters.
            target_url: An absolute http or https URL without user, password or fragment; may hold `{{
                secrets.NAME }}`.
            method: The HTTP method, in upper case.
            headers: Case-insensitive, unique names; at most 8,192 characters in total. Headers that Belfry or the
                connection sets are refused.
            payload: Any JSON value, forwarded unchanged except for `{{ secrets.NAME }}` in its strings.
            payload_base64: A body of any type in base64, sent as these bytes. Secrets are not filled in. Instead
                of `payload`.
            content_type: The content type of `payload_base64`. Default: the `Content-Type` header, or
                application/octet-stream.
            cron: Five fields: minute, hour, day of month, month, day of week. `L` is the last day of the month,
                `MON#1` its first Monday, `FRIL` its last Friday.
            timezone: The IANA time zone of the schedule. Default `UTC`.
            retry: When failed attempts are repeated.
            timeout_ms: The time limit of an attempt, from connecting to the last byte, 1,000 to 900,000 ms.
                Default 30,000.
            queue: The queue that limits the attempts: its name, alone or with limits to set. Null: no queue.
            connection: The name of the connection that authenticates the calls. Null: none.
            on_success: The request that reports the success of a task. Null: no such request.
            on_failure: The request that reports that a task is dead. Null: no such request.
            on_attempt: The request that reports each attempt. Null: no such request.
            overlap: Whether a run starts while an earlier one is unfinished. Default `allow`.
            catch_up: Which missed runs are made up for after an outage. Default `latest`.
            starts_at: No run starts earlier. Null: no bound.
            ends_at: No run starts at this time or later. Null: no bound.
            max_age_ms: No attempt starts this long after the time of the task, in milliseconds. Null: no
                deadline.
            labels: Up to 10 labels, to filter by. A label may end in a placeholder for a member of the payload.
                It is left out when the member is missing or makes no valid label.

        Raises:
            ConflictError: `key_in_use`.
        """
        fields = {
            "key": key,
            "headers": headers,
            "payload": payload,
            "payload_base64": payload_base64,
            "content_type": content_type,
            "cron": cron,
            "timezone": timezone,
            "retry": retry,
            "timeout_ms": timeout_ms,
            "queue": queue,
            "connection": connection,
            "on_success": on_success,
            "on_failure": on_failure,
            "on_attempt": on_attempt,
            "overlap": overlap,
            "catch_up": catch_up,
            "starts_at": starts_at,
            "ends_at": ends_at,
            "max_age_ms": max_age_ms,
            "labels": labels,
            **more,
        }
        return decode(models.CronJob, self._http.create("/api/v1/scheduler/cronjobs", new_task(fields, target_url, method, name), idempotency_key))

    def preview(
        self,
        *,
        cron: str,
        timezone: str | Unset = UNSET,
        since: Time | Unset = UNSET,
        count: int | Unset = UNSET,
        **more: Any,
    ) -> models.CronPreview:
        """Preview when a cron expression fires.

        Args:
            cron: Five fields: minute, hour, day of month, month, day of week. `L` is the last day of the month,
                `MON#1` its first Monday, `FRIL` its last Friday.
            timezone: The IANA time zone of the schedule. Default `UTC`.
            since: The time after which the runs are, in RFC 3339 with an offset or `Z`. Default: now.
            count: How many runs to return, 1 to 50. Default 5.
        """
        fields = {"cron": cron, "timezone": timezone, "from": since, "count": count, **more}
        return decode(models.CronPreview, self._http.send("POST", "/api/v1/scheduler/cronjobs/preview", body=fields))

    def get(self, id: str) -> models.CronJob:
        """Read a cron job. The response has its next five runs."""
        return decode(models.CronJob, self._http.send("GET", path("/api/v1/scheduler/cronjobs/{}", id)))

    def update(
        self,
        id: str,
        *,
        key: str | None | Unset = UNSET,
        name: str | Unset = UNSET,
        target_url: str | Unset = UNSET,
        method: str | Unset = UNSET,
        headers: Mapping[str, Any] | Unset = UNSET,
        payload: Any | Unset = UNSET,
        payload_base64: str | Unset = UNSET,
        content_type: str | Unset = UNSET,
        cron: str | Unset = UNSET,
        timezone: str | Unset = UNSET,
        retry: Mapping[str, Any] | Unset = UNSET,
        timeout_ms: int | Unset = UNSET,
        queue: str | Mapping[str, Any] | None | Unset = UNSET,
        connection: str | None | Unset = UNSET,
        on_success: Mapping[str, Any] | None | Unset = UNSET,
        on_failure: Mapping[str, Any] | None | Unset = UNSET,
        on_attempt: Mapping[str, Any] | None | Unset = UNSET,
        overlap: Literal["allow", "skip"] | Unset = UNSET,
        catch_up: Literal["latest", "all", "none"] | Unset = UNSET,
        starts_at: Time | None | Unset = UNSET,
        ends_at: Time | None | Unset = UNSET,
        max_age_ms: int | None | Unset = UNSET,
        labels: Sequence[str] | Unset = UNSET,
        **more: Any,
    ) -> models.CronJob:
        """Change a cron job. A new `cron` or `timezone` replaces the runs that have not started.

        Args:
            key: A new key, or null to remove the key.
            name: A display name of 1 to 200 characters.
            target_url: An absolute http or https URL without user, password or fragment; may hold `{{
                secrets.NAME }}`.
            method: The HTTP method, in upper case.
            headers: Case-insensitive, unique names; at most 8,192 characters in total. Headers that Belfry or the
                connection sets are refused.
            payload: Any JSON value, forwarded unchanged except for `{{ secrets.NAME }}` in its strings.
            payload_base64: A body of any type in base64, sent as these bytes. Secrets are not filled in. Instead
                of `payload`.
            content_type: The content type of `payload_base64`. Default: the `Content-Type` header, or
                application/octet-stream.
            cron: Five fields: minute, hour, day of month, month, day of week. `L` is the last day of the month,
                `MON#1` its first Monday, `FRIL` its last Friday.
            timezone: The IANA time zone of the schedule.
            retry: When failed attempts are repeated.
            timeout_ms: The time limit of an attempt, from connecting to the last byte, 1,000 to 900,000 ms.
            queue: The queue that limits the attempts: its name, alone or with limits to set. Null: no queue.
            connection: The name of the connection that authenticates the calls. Null: none.
            on_success: The request that reports the success of a task. Null: no such request.
            on_failure: The request that reports that a task is dead. Null: no such request.
            on_attempt: The request that reports each attempt. Null: no such request.
            overlap: Whether a run starts while an earlier one is unfinished.
            catch_up: Which missed runs are made up for after an outage.
            starts_at: No run starts earlier. Null: no bound.
            ends_at: No run starts at this time or later. Null: no bound.
            max_age_ms: No attempt starts this long after the time of the task, in milliseconds. Null: no
                deadline.
            labels: Up to 10 labels, to filter by. A label may end in a placeholder for a member of the payload.
                It is left out when the member is missing or makes no valid label.

        Raises:
            ConflictError: `key_in_use`.
        """
        fields = {
            "key": key,
            "name": name,
            "url": target_url,
            "method": method if isinstance(method, Unset) else method.upper(),
            "headers": headers,
            "payload": payload,
            "payload_base64": payload_base64,
            "content_type": content_type,
            "cron": cron,
            "timezone": timezone,
            "retry": retry,
            "timeout_ms": timeout_ms,
            "queue": queue,
            "connection": connection,
            "on_success": on_success,
            "on_failure": on_failure,
            "on_attempt": on_attempt,
            "overlap": overlap,
            "catch_up": catch_up,
            "starts_at": starts_at,
            "ends_at": ends_at,
            "max_age_ms": max_age_ms,
            "labels": labels,
            **more,
        }
        return decode(models.CronJob, self._http.send("PATCH", path("/api/v1/scheduler/cronjobs/{}", id), body=fields))

    def delete(self, id: str) -> None:
        """Delete a cron job and cancel its tasks that have not started."""
        self._http.send("DELETE", path("/api/v1/scheduler/cronjobs/{}", id))

    def pause(self, id: str) -> models.CronJob:
        """Pause a cron job. No run starts after the response."""
        return decode(models.CronJob, self._http.send("POST", path("/api/v1/scheduler/cronjobs/{}/pause", id)))

    def resume(self, id: str) -> models.CronJob:
        """Resume a cron job from now on. Runs missed during the pause are skipped."""
        return decode(models.CronJob, self._http.send("POST", path("/api/v1/scheduler/cronjobs/{}/resume", id)))

    def trigger(self, id: str) -> models.Task:
        """Dispatch a cron job at once."""
        return decode(models.Task, self._http.send("POST", path("/api/v1/scheduler/cronjobs/{}/trigger", id)))

    def backfill(
        self,
        id: str,
        *,
        since: Time,
        until: Time,
        per_second: int | Unset = UNSET,
        **more: Any,
    ) -> models.Backfill:
        """Run a cron job for a past time: one task for each of at most 1,000 occurrences. Skips occurrences that
        have a task which was not cancelled, so a repeated request creates nothing. Each task has the time of its
        occurrence as `execute_at`, and is due now.

        Args:
            since: The time from which on occurrences run.
            until: The time before which occurrences run; not in the future.
            per_second: How many of the tasks are due per second, the first at once. Default: all are due at once.
        """
        fields = {"from": since, "to": until, "per_second": per_second, **more}
        return decode(models.Backfill, self._http.send("POST", path("/api/v1/scheduler/cronjobs/{}/backfill", id), body=fields))


class Events:
    """Immediate requests."""

    def __init__(self, http: Http) -> None:
        self._http = http

    def publish(
        self,
        *,
        topic: str,
        payload: Mapping[str, Any] | JsonText,
        target_url: str | Unset = UNSET,
        headers: Mapping[str, Any] | Unset = UNSET,
        retry: Mapping[str, Any] | Unset = UNSET,
        timeout_ms: int | Unset = UNSET,
        queue: str | Mapping[str, Any] | None | Unset = UNSET,
        connection: str | None | Unset = UNSET,
        on_success: Mapping[str, Any] | None | Unset = UNSET,
        on_failure: Mapping[str, Any] | None | Unset = UNSET,
        on_attempt: Mapping[str, Any] | None | Unset = UNSET,
        max_age_ms: int | None | Unset = UNSET,
        labels: Sequence[str] | Unset = UNSET,
        idempotency_key: str | None = None,
        **more: Any,
    ) -> models.PublishedEvent:
        """Publish an event: call its target, or every matching subscription, at once. It is stored when the
        response arrives.

        Args:
            topic: A dotted name, such as `invoice.paid`, at most 200 characters.
            payload: A JSON object, forwarded unchanged except for `{{ secrets.NAME }}` in its strings.
            target_url: An absolute http or https URL without user, password or fragment; may hold `{{
                secrets.NAME }}`.
            headers: Case-insensitive, unique names; at most 8,192 characters in total. Headers that Belfry or the
                connection sets are refused.
            retry: When failed attempts are repeated.
            timeout_ms: The time limit of an attempt, from connecting to the last byte, 1,000 to 900,000 ms.
                Default 30,000.
            queue: The queue that limits the attempts: its name, alone or with limits to set. Null: no queue.
            connection: The name of the connection that authenticates the calls. Null: none.
            on_success: The request that reports the success of a task. Null: no such request.
            on_failure: The request that reports that a task is dead. Null: no such request.
            on_attempt: The request that reports each attempt. Null: no such request.
            max_age_ms: No attempt starts this long after the time of the task, in milliseconds. Null: no
                deadline.
            labels: Up to 10 labels, to filter by. A label may end in a placeholder for a member of the payload.
                It is left out when the member is missing or makes no valid label.
        """
        fields = {
            "topic": topic,
            "payload": payload,
            "target_url": target_url,
            "headers": headers,
            "retry": retry,
            "timeout_ms": timeout_ms,
            "queue": queue,
            "connection": connection,
            "on_success": on_success,
            "on_failure": on_failure,
            "on_attempt": on_attempt,
            "max_age_ms": max_age_ms,
            "labels": labels,
            **more,
        }
        return decode(models.PublishedEvent, self._http.create("/api/events", fields, idempotency_key))


class Subscriptions:
    """Targets that receive every event with a matching topic."""

    def __init__(self, http: Http) -> None:
        self._http = http

    def list(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        **more: Any,
    ) -> List[models.Subscription]:
        """List subscriptions, newest first.

        Args:
            limit: Items per page. Default: 25.
            cursor: The `next_cursor` of the previous page.
        """
        return List(self._http, "/api/v1/scheduler/subscriptions", models.Subscription, {
            **more,
            "limit": limit,
            "cursor": cursor,
        })

    def create(
        self,
        *,
        topic: str,
        target_url: str,
        key: str | Unset = UNSET,
        filter: Sequence[Mapping[str, Any]] | Unset = UNSET,
        headers: Mapping[str, Any] | Unset = UNSET,
        retry: Mapping[str, Any] | Unset = UNSET,
        timeout_ms: int | Unset = UNSET,
        queue: str | Mapping[str, Any] | None | Unset = UNSET,
        connection: str | None | Unset = UNSET,
        on_success: Mapping[str, Any] | None | Unset = UNSET,
        on_failure: Mapping[str, Any] | None | Unset = UNSET,
        on_attempt: Mapping[str, Any] | None | Unset = UNSET,
        active: bool | Unset = UNSET,
        max_age_ms: int | None | Unset = UNSET,
        labels: Sequence[str] | Unset = UNSET,
        **more: Any,
    ) -> models.Subscription:
        """Subscribe a target to the events of some topics.

        Args:
            key: A key of your choice, unique among the objects of this kind in the workspace.
            topic: A topic, all topics below one (`orders.*`), or all topics (`*`).
            filter: Conditions on members of the payload. Only events for which all of them hold are sent; a
                missing member satisfies only `ne` and `exists: false`.
            target_url: An absolute http or https URL without user, password or fragment; may hold `{{
                secrets.NAME }}`.
            headers: Case-insensitive, unique names; at most 8,192 characters in total. Headers that Belfry or the
                connection sets are refused.
            retry: When failed attempts are repeated.
            timeout_ms: The time limit of an attempt, from connecting to the last byte, 1,000 to 900,000 ms.
                Default 30,000.
            queue: The queue that limits the attempts: its name, alone or with limits to set. Null: no queue.
            connection: The name of the connection that authenticates the calls. Null: none.
            on_success: The request that reports the success of a task. Null: no such request.
            on_failure: The request that reports that a task is dead. Null: no such request.
            on_attempt: The request that reports each attempt. Null: no such request.
            active: Whether it receives events. Default true.
            max_age_ms: No attempt starts this long after the time of the task, in milliseconds. Null: no
                deadline.
            labels: Up to 10 labels, to filter by. A label may end in a placeholder for a member of the payload.
                It is left out when the member is missing or makes no valid label.

        Raises:
            ConflictError: `key_in_use`.
        """
        fields = {
            "key": key,
            "topic": topic,
            "filter": filter,
            "url": target_url,
            "headers": headers,
            "retry": retry,
            "timeout_ms": timeout_ms,
            "queue": queue,
            "connection": connection,
            "on_success": on_success,
            "on_failure": on_failure,
            "on_attempt": on_attempt,
            "active": active,
            "max_age_ms": max_age_ms,
            "labels": labels,
            **more,
        }
        return decode(models.Subscription, self._http.send("POST", "/api/v1/scheduler/subscriptions", body=fields))

    def get(self, id: str) -> models.Subscription:
        """Get a subscription."""
        return decode(models.Subscription, self._http.send("GET", path("/api/v1/scheduler/subscriptions/{}", id)))

    def update(
        self,
        id: str,
        *,
        key: str | None | Unset = UNSET,
        topic: str | Unset = UNSET,
        filter: Sequence[Mapping[str, Any]] | Unset = UNSET,
        target_url: str | Unset = UNSET,
        headers: Mapping[str, Any] | Unset = UNSET,
        retry: Mapping[str, Any] | Unset = UNSET,
        timeout_ms: int | Unset = UNSET,
        queue: str | Mapping[str, Any] | None | Unset = UNSET,
        connection: str | None | Unset = UNSET,
        on_success: Mapping[str, Any] | None | Unset = UNSET,
        on_failure: Mapping[str, Any] | None | Unset = UNSET,
        on_attempt: Mapping[str, Any] | None | Unset = UNSET,
        active: bool | Unset = UNSET,
        max_age_ms: int | None | Unset = UNSET,
        labels: Sequence[str] | Unset = UNSET,
        **more: Any,
    ) -> models.Subscription:
        """Change a subscription, for events published from then on. Omitted fields stay unchanged.

        Args:
            key: A new key, or null to remove the key.
            topic: A topic, all topics below one (`orders.*`), or all topics (`*`).
            filter: Conditions on members of the payload. Only events for which all of them hold are sent; a
                missing member satisfies only `ne` and `exists: false`.
            target_url: An absolute http or https URL without user, password or fragment; may hold `{{
                secrets.NAME }}`.
            headers: Case-insensitive, unique names; at most 8,192 characters in total. Headers that Belfry or the
                connection sets are refused.
            retry: When failed attempts are repeated.
            timeout_ms: The time limit of an attempt, from connecting to the last byte, 1,000 to 900,000 ms.
            queue: The queue that limits the attempts: its name, alone or with limits to set. Null: no queue.
            connection: The name of the connection that authenticates the calls. Null: none.
            on_success: The request that reports the success of a task. Null: no such request.
            on_failure: The request that reports that a task is dead. Null: no such request.
            on_attempt: The request that reports each attempt. Null: no such request.
            active: Whether it receives events.
            max_age_ms: No attempt starts this long after the time of the task, in milliseconds. Null: no
                deadline.
            labels: Up to 10 labels, to filter by. A label may end in a placeholder for a member of the payload.
                It is left out when the member is missing or makes no valid label.

        Raises:
            ConflictError: `key_in_use`.
        """
        fields = {
            "key": key,
            "topic": topic,
            "filter": filter,
            "url": target_url,
            "headers": headers,
            "retry": retry,
            "timeout_ms": timeout_ms,
            "queue": queue,
            "connection": connection,
            "on_success": on_success,
            "on_failure": on_failure,
            "on_attempt": on_attempt,
            "active": active,
            "max_age_ms": max_age_ms,
            "labels": labels,
            **more,
        }
        return decode(models.Subscription, self._http.send("PATCH", path("/api/v1/scheduler/subscriptions/{}", id), body=fields))

    def delete(self, id: str) -> None:
        """Delete a subscription; events published before are still sent."""
        self._http.send("DELETE", path("/api/v1/scheduler/subscriptions/{}", id))

    def signing_secrets(self, id: str) -> List[models.SubscriptionSecret]:
        """List the signing secrets that a subscription has of its own, the current one first. Without any, the
        secrets of the workspace sign.
        """
        return List(self._http, path("/api/v1/scheduler/subscriptions/{}/signing-secrets", id), models.SubscriptionSecret, {
        })

    def rotate_signing_secret(self, id: str) -> models.SubscriptionSecret:
        """Create a new signing secret of a subscription; the old one also signs for 24 hours."""
        return decode(models.SubscriptionSecret, self._http.send("POST", path("/api/v1/scheduler/subscriptions/{}/signing-secrets", id)))

    def remove_signing_secrets(self, id: str) -> None:
        """Remove the signing secrets of a subscription, so those of the workspace sign its calls."""
        self._http.send("DELETE", path("/api/v1/scheduler/subscriptions/{}/signing-secrets", id))

    def revoke_signing_secret(self, id: str, secret_id: str) -> None:
        """Revoke an old signing secret of a subscription at once."""
        self._http.send("DELETE", path("/api/v1/scheduler/subscriptions/{}/signing-secrets/{}", id, secret_id))


class DeadLetters:
    """Tasks that failed for good, until they are replayed or discarded."""

    def __init__(self, http: Http) -> None:
        self._http = http

    def list(
        self,
        *,
        state_reason: OneOrMore | None = None,
        source: OneOrMore | None = None,
        cronjob_id: OneOrMore | None = None,
        event_id: OneOrMore | None = None,
        callback_of: OneOrMore | None = None,
        topic: OneOrMore | None = None,
        queue: OneOrMore | None = None,
        label: OneOrMore | None = None,
        name: str | None = None,
        host: OneOrMore | None = None,
        since: Time | None = None,
        until: Time | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        error: OneOrMore | None = None,
        response_status: OneOrMore | None = None,
        **more: Any,
    ) -> List[models.Task]:
        """List tasks that could not be delivered, until they are replayed or discarded.

        Args:
            state_reason: Why the tasks ended without the outcome of an attempt.
            source: What created the tasks.
            cronjob_id: The cron jobs.
            event_id: The events that created the tasks. Later replays are left out.
            callback_of: The tasks that these callbacks report.
            topic: The topics of the tasks.
            queue: The names of the queues.
            label: Labels, of which at least one is present.
            name: The beginning of the name.
            host: Hosts, with their ports where the URLs have one.
            since: Only items at this time or later, in RFC 3339 with an offset or `Z`.
            until: Only items before this time, in RFC 3339 with an offset or `Z`.
            limit: Items per page. Default: 25.
            cursor: The `next_cursor` of the previous page.
            error: Error codes, such as `timeout`.
            response_status: Statuses, such as `500`, or classes, such as `5xx`.
        """
        return List(self._http, "/api/v1/scheduler/dead-letters", models.Task, {
            **more,
            "state_reason": state_reason,
            "source": source,
            "cronjob_id": cronjob_id,
            "event_id": event_id,
            "callback_of": callback_of,
            "topic": topic,
            "queue": queue,
            "label": label,
            "name": name,
            "host": host,
            "from": since,
            "to": until,
            "limit": limit,
            "cursor": cursor,
            "error": error,
            "response_status": response_status,
        })

    def replay(
        self,
        ids: Sequence[str] | None = None,
        *,
        filter: Mapping[str, Any] | None = None,
        per_second: int | None = None,
    ) -> models.ReplayedDeadLetters:
        """Replay dead letters: each as a new task that is due at once, or so many per second. Skips tasks that
        are not dead letters any more.

        Args:
            ids: The ids of 1 to 100 tasks, instead of `filter`.
            filter: `from` <= execute_at < `to`. `name` is a prefix, `host` has its port, and the last run has the
                `error` and the `response_status`. An empty filter selects all.
            per_second: How many of the replays are due per second, the first at once. Default: all are due at
                once. Retries are not counted.
        """
        return decode(models.ReplayedDeadLetters, self._http.send("POST", "/api/v1/scheduler/dead-letters/replay", body=chosen(ids, filter, per_second=per_second)))

    def discard(
        self,
        ids: Sequence[str] | None = None,
        *,
        filter: Mapping[str, Any] | None = None,
    ) -> models.DiscardedDeadLetters:
        """Discard dead letters; the tasks stay dead.

        Args:
            ids: The ids of 1 to 100 tasks, instead of `filter`.
            filter: `from` <= execute_at < `to`. `name` is a prefix, `host` has its port, and the last run has the
                `error` and the `response_status`. An empty filter selects all.
        """
        return decode(models.DiscardedDeadLetters, self._http.send("POST", "/api/v1/scheduler/dead-letters/discard", body=chosen(ids, filter)))

    def operation(self, id: str) -> models.DeadLetterOperation:
        """Get the progress of a replay or a discard in the background."""
        return decode(models.DeadLetterOperation, self._http.send("GET", path("/api/v1/scheduler/dead-letters/operations/{}", id)))

    def progress(self, id: str, *, interval: float = 1) -> Iterator[models.DeadLetterOperation]:
        """Yields each change of an operation's progress until it has ended. Asks every `interval` seconds."""
        before = None
        while True:
            now = self.operation(id)
            if now != before:
                yield now
            if now.status != "running":
                return
            before = now
            self._http.sleep(interval)

    def cancel_operation(self, id: str) -> models.DeadLetterOperation:
        """Cancel a replay or a discard in the background; what it has done stays done."""
        return decode(models.DeadLetterOperation, self._http.send("DELETE", path("/api/v1/scheduler/dead-letters/operations/{}", id)))


class BulkOperations:
    """Cancels, stops, replays and discards of many tasks, in the background."""

    def __init__(self, http: Http) -> None:
        self._http = http

    def list(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        **more: Any,
    ) -> List[models.BulkOperation]:
        """List bulk operations, newest first; they are kept for 30 days after their end.

        Args:
            limit: Items per page. Default: 25.
            cursor: The `next_cursor` of the previous page.
        """
        return List(self._http, "/api/v1/scheduler/bulk-operations", models.BulkOperation, {
            **more,
            "limit": limit,
            "cursor": cursor,
        })

    def start(
        self,
        ids: Sequence[str] | None = None,
        *,
        action: Literal["cancel", "stop", "replay", "discard"],
        filter: Mapping[str, Any] | None = None,
        per_second: int | None = None,
    ) -> models.BulkOperation:
        """Cancel, stop, replay or discard many tasks in the background. A different running operation causes a
        conflict.

        Args:
            ids: The ids of 1 to 100 tasks, instead of `filter`.
            filter: The filters of the list of dead letters, and `upcoming`. An empty filter selects all.
            action: Cancels pending tasks, stops tasks that wait for a retry, replays dead letters as new tasks,
                or discards dead letters. With `state_reason` it also replays cancelled tasks, each once. It skips
                other tasks.
            per_second: How many of the replays are due per second, the first at once. Default: all are due at
                once. Retries are not counted.
        """
        return decode(models.BulkOperation, self._http.send("POST", "/api/v1/scheduler/bulk-operations", body=chosen(ids, filter, action=action, per_second=per_second)))

    def get(self, id: str) -> models.BulkOperation:
        """Get the progress of a bulk operation."""
        return decode(models.BulkOperation, self._http.send("GET", path("/api/v1/scheduler/bulk-operations/{}", id)))

    def progress(self, id: str, *, interval: float = 1) -> Iterator[models.BulkOperation]:
        """Yields each change of an operation's progress until it has ended. Asks every `interval` seconds."""
        before = None
        while True:
            now = self.get(id)
            if now != before:
                yield now
            if now.status != "running":
                return
            before = now
            self._http.sleep(interval)

    def cancel(self, id: str) -> models.BulkOperation:
        """Cancel a bulk operation; what it has done stays done."""
        return decode(models.BulkOperation, self._http.send("POST", path("/api/v1/scheduler/bulk-operations/{}/cancel", id)))


class Queues:
    """Queues, which limit how many attempts of their tasks start."""

    def __init__(self, http: Http) -> None:
        self._http = http

    def list(
        self,
        *,
        name: str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        **more: Any,
    ) -> List[models.Queue]:
        """List queues by name, with what they contain now.

        Args:
            name: Only names that start with this text.
            limit: Items per page. Default: 25.
            cursor: The `next_cursor` of the previous page.
        """
        return List(self._http, "/api/v1/scheduler/queues", models.Queue, {
            **more,
            "name": name,
            "limit": limit,
            "cursor": cursor,
        })

    def get(self, name: str) -> models.Queue:
        """Read a queue."""
        return decode(models.Queue, self._http.send("GET", path("/api/v1/scheduler/queues/{}", name)))

    def put(
        self,
        name: str,
        *,
        max_concurrent: int | None | Unset = UNSET,
        rate_limit: Mapping[str, Any] | None | Unset = UNSET,
        ordered: bool | Unset = UNSET,
        **more: Any,
    ) -> models.Queue:
        """Create a queue, or replace its limits. An omitted limit is removed.

        Args:
            max_concurrent: Attempts in flight at a time, over all dispatchers.
            rate_limit: How many attempts may start in a period; null: any number.
            ordered: One task at a time, in the order of `execute_at`, then creation. The next task waits until
                the one before is final.
        """
        fields = {"max_concurrent": max_concurrent, "rate_limit": rate_limit, "ordered": ordered, **more}
        return decode(models.Queue, self._http.send("PUT", path("/api/v1/scheduler/queues/{}", name), body=fields))

    def update(
        self,
        name: str,
        *,
        max_concurrent: int | None | Unset = UNSET,
        rate_limit: Mapping[str, Any] | None | Unset = UNSET,
        ordered: bool | Unset = UNSET,
        **more: Any,
    ) -> models.Queue:
        """Change limits of a queue. Omitted limits stay unchanged.

        Args:
            max_concurrent: Attempts in flight at a time, over all dispatchers.
            rate_limit: How many attempts may start in a period; null: any number.
            ordered: One task at a time, in the order of `execute_at`, then creation. The next task waits until
                the one before is final.
        """
        fields = {"max_concurrent": max_concurrent, "rate_limit": rate_limit, "ordered": ordered, **more}
        return decode(models.Queue, self._http.send("PATCH", path("/api/v1/scheduler/queues/{}", name), body=fields))

    def delete(self, name: str) -> None:
        """Delete the settings of a queue that is not in use. Nothing may use the queue: no task, cron job or
        subscription.

        Raises:
            ConflictError: `queue_in_use`.
        """
        self._http.send("DELETE", path("/api/v1/scheduler/queues/{}", name))

    def pause(self, name: str) -> models.Queue:
        """Pause a queue: its tasks wait."""
        return decode(models.Queue, self._http.send("POST", path("/api/v1/scheduler/queues/{}/pause", name)))

    def resume(self, name: str) -> models.Queue:
        """Resume a paused queue."""
        return decode(models.Queue, self._http.send("POST", path("/api/v1/scheduler/queues/{}/resume", name)))


class Runs:
    """The activity log: one run per attempt."""

    def __init__(self, http: Http) -> None:
        self._http = http

    def list(
        self,
        *,
        status: OneOrMore | None = None,
        task_id: OneOrMore | None = None,
        label: OneOrMore | None = None,
        cronjob_id: OneOrMore | None = None,
        topic: OneOrMore | None = None,
        source: OneOrMore | None = None,
        response_status: OneOrMore | None = None,
        error: OneOrMore | None = None,
        host: OneOrMore | None = None,
        name: str | None = None,
        late_ms: int | None = None,
        not_cronjob_id: OneOrMore | None = None,
        not_topic: OneOrMore | None = None,
        not_source: OneOrMore | None = None,
        not_response_status: OneOrMore | None = None,
        not_error: OneOrMore | None = None,
        not_host: OneOrMore | None = None,
        not_name: OneOrMore | None = None,
        since: Time | None = None,
        until: Time | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        **more: Any,
    ) -> List[models.Run]:
        """List runs, newest first.

        Args:
            status: The statuses.
            task_id: The tasks of the runs.
            label: Labels, of which at least one is present.
            cronjob_id: The cron jobs.
            topic: The topics of the tasks.
            source: What created the tasks.
            response_status: Statuses, such as `500`, or classes, such as `5xx`.
            error: Error codes, such as `timeout`.
            host: Hosts, with their ports where the URLs have one.
            name: The beginning of the name.
            late_ms: Only runs that started at least this many milliseconds late: by their `lag_ms`.
            not_cronjob_id: Leaves out the runs of these cron jobs.
            not_topic: Leaves out the runs with these topics.
            not_source: Leaves out the runs with these sources.
            not_response_status: Leaves out the runs with these statuses or classes.
            not_error: Leaves out the runs with these errors.
            not_host: Leaves out the runs of these hosts.
            not_name: Leaves out the runs whose names begin so.
            since: Only items at this time or later, in RFC 3339 with an offset or `Z`.
            until: Only items before this time, in RFC 3339 with an offset or `Z`.
            limit: Items per page. Default: 25.
            cursor: The `next_cursor` of the previous page.
        """
        return List(self._http, "/api/v1/scheduler/runs", models.Run, {
            **more,
            "status": status,
            "task_id": task_id,
            "label": label,
            "cronjob_id": cronjob_id,
            "topic": topic,
            "source": source,
            "response_status": response_status,
            "error": error,
            "host": host,
            "name": name,
            "late_ms": late_ms,
            "not_cronjob_id": not_cronjob_id,
            "not_topic": not_topic,
            "not_source": not_source,
            "not_response_status": not_response_status,
            "not_error": not_error,
            "not_host": not_host,
            "not_name": not_name,
            "from": since,
            "to": until,
            "limit": limit,
            "cursor": cursor,
        })

    def export(
        self,
        *,
        status: OneOrMore | None = None,
        task_id: OneOrMore | None = None,
        label: OneOrMore | None = None,
        cronjob_id: OneOrMore | None = None,
        topic: OneOrMore | None = None,
        source: OneOrMore | None = None,
        response_status: OneOrMore | None = None,
        error: OneOrMore | None = None,
        host: OneOrMore | None = None,
        name: str | None = None,
        late_ms: int | None = None,
        not_cronjob_id: OneOrMore | None = None,
        not_topic: OneOrMore | None = None,
        not_source: OneOrMore | None = None,
        not_response_status: OneOrMore | None = None,
        not_error: OneOrMore | None = None,
        not_host: OneOrMore | None = None,
        not_name: OneOrMore | None = None,
        since: Time | None = None,
        until: Time | None = None,
        format: Literal["csv", "jsonl"] | None = None,
        **more: Any,
    ) -> Iterator[bytes]:
        """Export runs as CSV or JSON Lines, newest first. The file may have any size.

        Args:
            status: The statuses.
            task_id: The tasks of the runs.
            label: Labels, of which at least one is present.
            cronjob_id: The cron jobs.
            topic: The topics of the tasks.
            source: What created the tasks.
            response_status: Statuses, such as `500`, or classes, such as `5xx`.
            error: Error codes, such as `timeout`.
            host: Hosts, with their ports where the URLs have one.
            name: The beginning of the name.
            late_ms: Only runs that started at least this many milliseconds late: by their `lag_ms`.
            not_cronjob_id: Leaves out the runs of these cron jobs.
            not_topic: Leaves out the runs with these topics.
            not_source: Leaves out the runs with these sources.
            not_response_status: Leaves out the runs with these statuses or classes.
            not_error: Leaves out the runs with these errors.
            not_host: Leaves out the runs of these hosts.
            not_name: Leaves out the runs whose names begin so.
            since: Only items at this time or later, in RFC 3339 with an offset or `Z`.
            until: Only items before this time, in RFC 3339 with an offset or `Z`.
            format: CSV with a header line, or one JSON object per line.
        """
        return self._http.stream("/api/v1/scheduler/runs/export", {
            **more,
            "status": status,
            "task_id": task_id,
            "label": label,
            "cronjob_id": cronjob_id,
            "topic": topic,
            "source": source,
            "response_status": response_status,
            "error": error,
            "host": host,
            "name": name,
            "late_ms": late_ms,
            "not_cronjob_id": not_cronjob_id,
            "not_topic": not_topic,
            "not_source": not_source,
            "not_response_status": not_response_status,
            "not_error": not_error,
            "not_host": not_host,
            "not_name": not_name,
            "from": since,
            "to": until,
            "format": format,
        })

    def tail(self, *, after: str | None = None) -> Iterator[models.Run]:
        """Follow new runs as server-sent events. A run is sent about a second after its end."""
        return self._http.tail("/api/v1/scheduler/runs/stream", models.Run, after)

    def failures(
        self,
        *,
        since: Time | None = None,
        until: Time | None = None,
        host: OneOrMore | None = None,
        **more: Any,
    ) -> models.RunFailures:
        """Group failed runs by host, error and response status.

        Args:
            since: Only items at this time or later, in RFC 3339 with an offset or `Z`.
            until: Only items before this time, in RFC 3339 with an offset or `Z`.
            host: Hosts, with their ports where the URLs have one.
        """
        query = {**more, "from": since, "to": until, "host": host}
        return decode(models.RunFailures, self._http.send("GET", "/api/v1/scheduler/runs/failures", query=query))

    def counts(
        self,
        *,
        since: Time | None = None,
        until: Time | None = None,
        **more: Any,
    ) -> models.RunCounts:
        """Count the runs of a time by outcome. Default: the last 24 hours, in steps of 30 minutes.

        Args:
            since: Only items at this time or later, in RFC 3339 with an offset or `Z`.
            until: Only items before this time, in RFC 3339 with an offset or `Z`.
        """
        query = {**more, "from": since, "to": until}
        return decode(models.RunCounts, self._http.send("GET", "/api/v1/scheduler/runs/counts", query=query))

    def get(self, id: str) -> models.RunDetail:
        """Read a run with its request and response."""
        return decode(models.RunDetail, self._http.send("GET", path("/api/v1/scheduler/runs/{}", id)))


class Hosts:
    """The hosts that tasks call, with their circuit breakers."""

    def __init__(self, http: Http) -> None:
        self._http = http

    def list(self) -> models.Hosts:
        """List the hosts that tasks of a workspace call, with their health."""
        return decode(models.Hosts, self._http.send("GET", "/api/v1/scheduler/hosts"))

    def get(self, host: str) -> models.Host:
        """Read a host with its health."""
        return decode(models.Host, self._http.send("GET", path("/api/v1/scheduler/hosts/{}", host)))

    def pause(self, host: str) -> models.Host:
        """Pause a host: the tasks of the workspace for it wait, except callbacks."""
        return decode(models.Host, self._http.send("POST", path("/api/v1/scheduler/hosts/{}/pause", host)))

    def resume(self, host: str) -> models.Host:
        """Resume a paused host, so its waiting tasks start."""
        return decode(models.Host, self._http.send("POST", path("/api/v1/scheduler/hosts/{}/resume", host)))

    def reset(self, host: str) -> models.ResetHost:
        """Close the circuit breaker of a host. `dispatchers` is the number of dispatchers that close it."""
        return decode(models.ResetHost, self._http.send("POST", path("/api/v1/scheduler/hosts/{}/reset", host)))


class Workspaces:
    """Workspaces, with their members, secrets and connections. `current` is the workspace of the API key."""

    def __init__(self, http: Http) -> None:
        self._http = http

    def create(self, id: str, *, name: str, **more: Any) -> models.Workspace:
        """Create a workspace. Requires a session token.

        Args:
            name: A display name of 1 to 200 characters.
        """
        fields = {"name": name, **more}
        return decode(models.Workspace, self._http.send("POST", path("/api/v1/organizations/{}/workspaces", id), body=fields))

    def get(self, id: str = "current") -> models.Workspace:
        """Read a workspace."""
        return decode(models.Workspace, self._http.send("GET", path("/api/v1/workspaces/{}", id)))

    def update(
        self,
        id: str = "current",
        *,
        name: str | Unset = UNSET,
        keeps_responses_with_secrets: bool | Unset = UNSET,
        asymmetric_signatures: bool | Unset = UNSET,
        switch_off_after_days: int | Unset = UNSET,
        **more: Any,
    ) -> models.Workspace:
        """Change the name or the settings of a workspace. Requires a session token.

        Args:
            name: A display name of 1 to 200 characters.
            keeps_responses_with_secrets: Whether the log keeps the headers and bodies of responses to requests
                with secrets.
            asymmetric_signatures: Whether deliveries also have a `v1a` signature (Ed25519).
            switch_off_after_days: After how many days a cron job or subscription that only fails is switched off,
                0 to 90. 0: never.
        """
        fields = {
            "name": name,
            "keeps_responses_with_secrets": keeps_responses_with_secrets,
            "asymmetric_signatures": asymmetric_signatures,
            "switch_off_after_days": switch_off_after_days,
            **more,
        }
        return decode(models.Workspace, self._http.send("PATCH", path("/api/v1/workspaces/{}", id), body=fields))

    def delete(self, id: str = "current") -> None:
        """Delete a workspace: all of its deliveries stop at once. Requires a session token."""
        self._http.send("DELETE", path("/api/v1/workspaces/{}", id))

    def members(
        self,
        id: str = "current",
        *,
        limit: int | None = None,
        cursor: str | None = None,
        **more: Any,
    ) -> List[models.WorkspaceMember]:
        """List the members of a workspace; owners and admins need not be among them.

        Args:
            limit: Items per page. Default: 25.
            cursor: The `next_cursor` of the previous page.
        """
        return List(self._http, path("/api/v1/workspaces/{}/members", id), models.WorkspaceMember, {
            **more,
            "limit": limit,
            "cursor": cursor,
        })

    def federated_credentials(self, id: str = "current") -> List[models.FederatedCredential]:
        """List the federated credentials of a workspace. Requires a session token."""
        return List(self._http, path("/api/v1/workspaces/{}/federated-credentials", id), models.FederatedCredential, {
        })

    def create_federated_credential(
        self,
        id: str = "current",
        *,
        name: str,
        issuer: str,
        conditions: Mapping[str, Any],
        scopes: Sequence[Literal["full", "read", "publish", "organization.read", "workspace.list", "workspace.read", "workspace_member.read", "secret.read", "secret.write", "secret.delete", "secret.use", "connection.read", "connection.write", "connection.delete", "connection.test", "signing_secret.read", "signing_secret.rotate", "signing_secret.revoke", "integration.read", "integration.write", "integration.delete", "task.read", "task.create", "task.write", "task.delete", "cron_job.read", "cron_job.write", "cron_job.delete", "run.read", "host.read", "host.reset", "host.write", "queue.read", "queue.write", "queue.delete", "dead_letter.read", "dead_letter.replay", "dead_letter.discard", "event.publish", "subscription.read", "subscription.write", "subscription.delete"]],
        audience: str | Unset = UNSET,
        lifetime_ms: int | Unset = UNSET,
        **more: Any,
    ) -> models.FederatedCredential:
        """Let CI jobs exchange their OpenID Connect tokens for API keys. Requires a session token of an owner or
        admin.

        Args:
            name: A display name of 1 to 200 characters.
            issuer: The issuer of the tokens: an https URL, exactly as in their claim `iss`.
            audience: The `aud` of the tokens. Default: the URL of Belfry.
            conditions: The claims that a token must have. `*` stands for any characters. One of them must name
                the owner of the jobs: see docs/ci.md.
            scopes: The rights of the key, at most those of the user who creates it. `full`: all. `read`: read
                everything except signing secrets. `publish`: create tasks and publish events. Or single rights of
                docs/permissions.md.
            lifetime_ms: How long a key is valid: by default 15 minutes.
        """
        fields = {
            "name": name,
            "issuer": issuer,
            "audience": audience,
            "conditions": conditions,
            "scopes": scopes,
            "lifetime_ms": lifetime_ms,
            **more,
        }
        return decode(models.FederatedCredential, self._http.send("POST", path("/api/v1/workspaces/{}/federated-credentials", id), body=fields))

    def get_federated_credential(
        self,
        fed_id: str,
        *,
        id: str = "current",
    ) -> models.FederatedCredential:
        """Read a federated credential. Requires a session token."""
        return decode(models.FederatedCredential, self._http.send("GET", path("/api/v1/workspaces/{}/federated-credentials/{}", id, fed_id)))

    def delete_federated_credential(self, fed_id: str, *, id: str = "current") -> None:
        """Delete a federated credential, and revoke the API keys of its jobs."""
        self._http.send("DELETE", path("/api/v1/workspaces/{}/federated-credentials/{}", id, fed_id))

    def secrets(self, id: str = "current") -> List[models.Secret]:
        """List the secrets of a workspace by name, without their values."""
        return List(self._http, path("/api/v1/workspaces/{}/secrets", id), models.Secret, {})

    def put_secret(
        self,
        name: str,
        value: str,
        *,
        allowed_hosts: Sequence[str] | None | Unset = UNSET,
        id: str = "current",
        **more: Any,
    ) -> models.Secret:
        """Create a secret (201), or change its value (200). Requests refer to it as `{{ secrets.NAME }}`.

        Args:
            value: The value; never returned.
            allowed_hosts: The hosts that it may be sent to. Null: every host. Omitted: its present hosts, or
                every host if it is new.
        """
        fields = {"value": value, "allowed_hosts": allowed_hosts, **more}
        return decode(models.Secret, self._http.send("PUT", path("/api/v1/workspaces/{}/secrets/{}", id, name), body=fields))

    def delete_secret(self, name: str, *, id: str = "current") -> None:
        """Delete a secret. Tasks that still refer to it fail with `secret_missing`."""
        self._http.send("DELETE", path("/api/v1/workspaces/{}/secrets/{}", id, name))

    def signing_keys(self, id: str = "current") -> List[models.SigningKey]:
        """List the public keys that verify `v1a` signatures, the current one first. It needs no API key."""
        return List(self._http, path("/api/v1/workspaces/{}/signing-keys", id), models.SigningKey, {})

    def signing_secrets(self, id: str = "current") -> List[models.SigningSecret]:
        """List the signing secrets of a workspace, the current one first."""
        return List(self._http, path("/api/v1/workspaces/{}/signing-secrets", id), models.SigningSecret, {})

    def rotate_signing_secret(self, id: str = "current") -> models.SigningSecret:
        """Create a new signing secret; the old one also signs for 24 hours."""
        return decode(models.SigningSecret, self._http.send("POST", path("/api/v1/workspaces/{}/signing-secrets", id)))

    def revoke_signing_secret(self, secret_id: str, *, id: str = "current") -> None:
        """Revoke an old signing secret at once."""
        self._http.send("DELETE", path("/api/v1/workspaces/{}/signing-secrets/{}", id, secret_id))

    def connections(self, id: str = "current") -> List[models.Connection]:
        """List the connections of a workspace by name, without their secrets."""
        return List(self._http, path("/api/v1/workspaces/{}/connections", id), models.Connection, {})

    def get_connection(self, name: str, *, id: str = "current") -> models.Connection:
        """Get a connection, without its secrets."""
        return decode(models.Connection, self._http.send("GET", path("/api/v1/workspaces/{}/connections/{}", id, name)))

    def put_connection(
        self,
        name: str,
        *,
        kind: str,
        hosts: Sequence[str],
        header: str | Unset = UNSET,
        value: str | Unset = UNSET,
        ca_certificate: str | None | Unset = UNSET,
        client_certificate: str | None | Unset = UNSET,
        client_key: str | Unset = UNSET,
        username: str | Unset = UNSET,
        password: str | Unset = UNSET,
        token_url: str | Unset = UNSET,
        client_id: str | Unset = UNSET,
        client_secret: str | Unset = UNSET,
        client_authentication: Literal["basic", "post"] | Unset = UNSET,
        scope: str | None | Unset = UNSET,
        parameters: Mapping[str, Any] | Unset = UNSET,
        audience: str | Unset = UNSET,
        lifetime_s: int | Unset = UNSET,
        id: str = "current",
        **more: Any,
    ) -> models.Connection:
        """Create a connection (201), or replace its settings (200).

        Args:
            kind: How the connection proves who calls.
            header: The name of the header.
            value: The value of the header. Never returned.
            hosts: The hosts that the connection may authenticate to.
            ca_certificate: Authorities that are trusted in addition to the public ones, as PEM. Null: no others.
            client_certificate: The certificate that calls present to the target, as PEM. Null: no certificate.
            client_key: The private key of the client certificate; never returned, as PEM.
            username: The name of the user, 1 to 200 characters without `:`.
            password: The password. Never returned.
            token_url: The token endpoint.
            client_id: The id of the client, at most 500 characters.
            client_secret: The secret of the client. Never returned.
            client_authentication: Whether the client proves who it is by HTTP Basic, or by parameters in the
                body.
            scope: The scopes of the token, separated by spaces. Null: no scope.
            parameters: Further parameters of the token request.
            audience: The `aud` of the tokens, at most 500 characters.
            lifetime_s: How long a token is valid, in seconds, 60 to 3,600. Default 300.
        """
        fields = {
            "kind": kind,
            "header": header,
            "value": value,
            "hosts": hosts,
            "ca_certificate": ca_certificate,
            "client_certificate": client_certificate,
            "client_key": client_key,
            "username": username,
            "password": password,
            "token_url": token_url,
            "client_id": client_id,
            "client_secret": client_secret,
            "client_authentication": client_authentication,
            "scope": scope,
            "parameters": parameters,
            "audience": audience,
            "lifetime_s": lifetime_s,
            **more,
        }
        return decode(models.Connection, self._http.send("PUT", path("/api/v1/workspaces/{}/connections/{}", id, name), body=fields))

    def delete_connection(self, name: str, *, id: str = "current") -> None:
        """Delete a connection that no cron job and no subscription names.

        Raises:
            ConflictError: `connection_in_use`.
        """
        self._http.send("DELETE", path("/api/v1/workspaces/{}/connections/{}", id, name))

    def test_connection(
        self,
        name: str,
        *,
        target_url: str | Unset = UNSET,
        id: str = "current",
        **more: Any,
    ) -> models.ConnectionTest:
        """Test a connection: request a token, or call a URL, and report what happened. Kinds without tokens need
        a URL.

        Args:
            target_url: A URL that is called with GET. Kinds without tokens need it.
        """
        fields = {"url": target_url, **more}
        return decode(models.ConnectionTest, self._http.send("POST", path("/api/v1/workspaces/{}/connections/{}/test", id, name), body=fields))


class Organizations:
    """Organizations. An API key reads the one of its workspace; everything else requires a session token."""

    def __init__(self, http: Http) -> None:
        self._http = http

    def runs(
        self,
        id: str,
        *,
        status: OneOrMore | None = None,
        task_id: OneOrMore | None = None,
        label: OneOrMore | None = None,
        cronjob_id: OneOrMore | None = None,
        topic: OneOrMore | None = None,
        source: OneOrMore | None = None,
        response_status: OneOrMore | None = None,
        error: OneOrMore | None = None,
        host: OneOrMore | None = None,
        name: str | None = None,
        late_ms: int | None = None,
        not_cronjob_id: OneOrMore | None = None,
        not_topic: OneOrMore | None = None,
        not_source: OneOrMore | None = None,
        not_response_status: OneOrMore | None = None,
        not_error: OneOrMore | None = None,
        not_host: OneOrMore | None = None,
        not_name: OneOrMore | None = None,
        since: Time | None = None,
        until: Time | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        workspace_id: OneOrMore | None = None,
        **more: Any,
    ) -> List[models.Run]:
        """List the runs of all workspaces that the caller may see, newest first.

        Args:
            status: The statuses.
            task_id: The tasks of the runs.
            label: Labels, of which at least one is present.
            cronjob_id: The cron jobs.
            topic: The topics of the tasks.
            source: What created the tasks.
            response_status: Statuses, such as `500`, or classes, such as `5xx`.
            error: Error codes, such as `timeout`.
            host: Hosts, with their ports where the URLs have one.
            name: The beginning of the name.
            late_ms: Only runs that started at least this many milliseconds late: by their `lag_ms`.
            not_cronjob_id: Leaves out the runs of these cron jobs.
            not_topic: Leaves out the runs with these topics.
            not_source: Leaves out the runs with these sources.
            not_response_status: Leaves out the runs with these statuses or classes.
            not_error: Leaves out the runs with these errors.
            not_host: Leaves out the runs of these hosts.
            not_name: Leaves out the runs whose names begin so.
            since: Only items at this time or later, in RFC 3339 with an offset or `Z`.
            until: Only items before this time, in RFC 3339 with an offset or `Z`.
            limit: Items per page. Default: 25.
            cursor: The `next_cursor` of the previous page.
            workspace_id: The workspaces.
        """
        return List(self._http, path("/api/v1/organizations/{}/runs", id), models.Run, {
            **more,
            "status": status,
            "task_id": task_id,
            "label": label,
            "cronjob_id": cronjob_id,
            "topic": topic,
            "source": source,
            "response_status": response_status,
            "error": error,
            "host": host,
            "name": name,
            "late_ms": late_ms,
            "not_cronjob_id": not_cronjob_id,
            "not_topic": not_topic,
            "not_source": not_source,
            "not_response_status": not_response_status,
            "not_error": not_error,
            "not_host": not_host,
            "not_name": not_name,
            "from": since,
            "to": until,
            "limit": limit,
            "cursor": cursor,
            "workspace_id": workspace_id,
        })

    def list(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        **more: Any,
    ) -> List[models.Organization]:
        """List the organizations of the signed-in user.

        Args:
            limit: Items per page. Default: 25.
            cursor: The `next_cursor` of the previous page.
        """
        return List(self._http, "/api/v1/organizations", models.Organization, {
            **more,
            "limit": limit,
            "cursor": cursor,
        })

    def create(self, *, name: str, **more: Any) -> models.Organization:
        """Create an organization, of which the caller becomes the owner.

        Args:
            name: A display name of 1 to 200 characters.
        """
        fields = {"name": name, **more}
        return decode(models.Organization, self._http.send("POST", "/api/v1/organizations", body=fields))

    def get(self, id: str) -> models.OrganizationDetail:
        """Read an organization; owners see its usage, an API key sees its name, slug and tier. With an API key of
        one of its workspaces it is a summary without `policy`.
        """
        return decode(models.OrganizationDetail, self._http.send("GET", path("/api/v1/organizations/{}", id)))

    def update(
        self,
        id: str,
        *,
        name: str | Unset = UNSET,
        slug: str | Unset = UNSET,
        policy: Mapping[str, Any] | Unset = UNSET,
        max_api_key_days: int | None | Unset = UNSET,
        require_second_factor: bool | Unset = UNSET,
        **more: Any,
    ) -> models.Organization:
        """Change the name, the slug or the policy of an organization. Omitted fields stay unchanged, also within
        `policy`.

        Args:
            name: A display name of 1 to 200 characters.
            slug: Unique; part of dashboard URLs.
            policy: The permissions of members to change. Omitted ones stay unchanged.
            max_api_key_days: How long a new API key may be valid, in days, 1 to 3,650. Null: without limit.
            require_second_factor: Owners only.

        Raises:
            ConflictError: `slug_taken`.
        """
        fields = {
            "name": name,
            "slug": slug,
            "policy": policy,
            "max_api_key_days": max_api_key_days,
            "require_second_factor": require_second_factor,
            **more,
        }
        return decode(models.Organization, self._http.send("PATCH", path("/api/v1/organizations/{}", id), body=fields))

    def delete(self, id: str) -> None:
        """Delete an organization that has no workspace left. Requires an owner."""
        self._http.send("DELETE", path("/api/v1/organizations/{}", id))

    def members(
        self,
        id: str,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        **more: Any,
    ) -> List[models.Member]:
        """List the members of an organization.

        Args:
            limit: Items per page. Default: 25.
            cursor: The `next_cursor` of the previous page.
        """
        return List(self._http, path("/api/v1/organizations/{}/members", id), models.Member, {
            **more,
            "limit": limit,
            "cursor": cursor,
        })

    def get_audit_stream(self, id: str) -> models.AuditStream:
        """Read the webhook that receives the new audit entries, with its signing secrets. Without one its
        `target` is null.
        """
        return decode(models.AuditStream, self._http.send("GET", path("/api/v1/organizations/{}/audit-stream", id)))

    def put_audit_stream(self, id: str, target_url: str, **more: Any) -> models.AuditStream:
        """Send new audit entries to a webhook as JSON lines, or change its URL.

        Args:
            target_url: An absolute https URL without user, password or fragment; never returned.
        """
        fields = {"url": target_url, **more}
        return decode(models.AuditStream, self._http.send("PUT", path("/api/v1/organizations/{}/audit-stream", id), body=fields))

    def delete_audit_stream(self, id: str) -> None:
        """Stop sending audit entries; those that wait are dropped."""
        self._http.send("DELETE", path("/api/v1/organizations/{}/audit-stream", id))

    def rotate_audit_stream_secret(self, id: str) -> models.AuditStream:
        """Create a new signing secret of the audit stream; the old one also signs for 24 hours."""
        return decode(models.AuditStream, self._http.send("POST", path("/api/v1/organizations/{}/audit-stream/rotate", id)))

    def workspaces(
        self,
        id: str,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        **more: Any,
    ) -> List[models.Workspace]:
        """List the workspaces of an organization; a member sees their own, an API key its own.

        Args:
            limit: Items per page. Default: 25.
            cursor: The `next_cursor` of the previous page.
        """
        return List(self._http, path("/api/v1/organizations/{}/workspaces", id), models.Workspace, {
            **more,
            "limit": limit,
            "cursor": cursor,
        })


class Status:
    """Whether dispatchers, schedulers and the queue are running."""

    def __init__(self, http: Http) -> None:
        self._http = http

    def get(self) -> models.Status:
        """Get whether all processes run, and what keeps tasks from running."""
        return decode(models.Status, self._http.send("GET", "/api/v1/scheduler/status"))


class Belfry(Client):
    """A client of a Belfry installation. Close it, or use it in `with`."""

    def _bind(self, http: Http) -> None:
        self.tasks = Tasks(http)
        self.cron_jobs = CronJobs(http)
        self.events = Events(http)
        self.subscriptions = Subscriptions(http)
        self.dead_letters = DeadLetters(http)
        self.bulk_operations = BulkOperations(http)
        self.queues = Queues(http)
        self.runs = Runs(http)
        self.hosts = Hosts(http)
        self.workspaces = Workspaces(http)
        self.organizations = Organizations(http)
        self.status = Status(http)
