"""Runs against the installation in BELFRY_URL, with the key of an empty workspace in BELFRY_API_KEY."""

import asyncio
import os
import re
import time
import uuid
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta, timezone
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from belfry_client import AsyncBelfry, Belfry, JsonText, errors, webhooks
from belfry_client.models import Condition

pytestmark = pytest.mark.skipif("BELFRY_URL" not in os.environ, reason="BELFRY_URL names no installation")


@pytest.fixture(scope="module")
def belfry() -> Iterator[Belfry]:
    with Belfry() as client:
        yield client


class Receiver:
    """A target that records its calls, and answers with `status`."""

    def __init__(self) -> None:
        self.calls: list[tuple[dict[str, str], bytes]] = []
        self.status = 200
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"] or 0))
                receiver.calls.append((dict(self.headers), body))
                self.send_response(receiver.status)
                self.end_headers()

            def log_message(self, *_: Any) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        Thread(target=self.server.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self.server.server_port}/hook"


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    receiver = Receiver()
    yield receiver
    receiver.server.shutdown()


def wait_for(condition: Callable[[], Any]) -> Any:
    end = time.monotonic() + 30
    while time.monotonic() < end:
        result = condition()
        if result:
            return result
        time.sleep(0.05)
    raise AssertionError("The condition was not met within 30 s.")


def test_a_task_is_delivered_signed_and_byte_for_byte(belfry: Belfry, receiver: Receiver) -> None:
    payload = JsonText('{"total": 1.10, "id": 12345678901234567890}')
    task = belfry.tasks.create(target_url=receiver.url, delay="1s", payload=payload)
    assert (task.state, task.name, task.payload["id"]) == ("pending", f"POST {receiver.url[7:]}", 12345678901234567890)
    assert task.execute_at > datetime.now(timezone.utc) - timedelta(seconds=5)
    wait_for(lambda: receiver.calls)
    headers, body = receiver.calls[0]
    assert body == payload.encode()
    secrets = [each.secret for each in belfry.workspaces.signing_secrets()]
    assert webhooks.verify(body, headers, secrets).id == task.id
    done = wait_for(lambda: (now := belfry.tasks.get(task.id)).state == "success" and now)
    run = belfry.runs.get(done.last_run.id)
    assert (run.status, run.response_status, run.attempt) == ("success", 200, 1)
    assert run.request is not None and run.request.body == payload
    assert run.timings is not None and run.timings.first_byte_ms is not None and run.timings.tls_ms is None
    assert [each.id for each in belfry.runs.list(task_id=task.id, since=task.created_at)] == [run.id]


def test_a_pending_task_is_changed_and_cancelled(belfry: Belfry) -> None:
    task = belfry.tasks.create(target_url="https://example.com/a", delay=timedelta(days=3), method="put", name="A")
    changed = belfry.tasks.update(task.id, target_url="https://example.com/b", retry={"max_retries": 1}, delay="2d")
    assert (changed.url, changed.method, changed.retry.max_retries) == ("https://example.com/b", "PUT", 1)
    assert changed.execute_at < task.execute_at
    assert belfry.tasks.cancel(task.id).state == "cancelled"
    with pytest.raises(errors.ConflictError) as caught:
        belfry.tasks.cancel(task.id)
    assert caught.value.code == "task_not_pending"
    again = belfry.tasks.replay(task.id)
    assert again.replay_of == task.id


def test_keys_labels_and_deadlines(belfry: Belfry) -> None:
    key, label = uuid.uuid4().hex, uuid.uuid4().hex
    at = datetime.now(timezone.utc) + timedelta(days=2)
    arguments: dict[str, Any] = {"target_url": "https://example.com/", "key": key, "labels": [label]}
    first = belfry.tasks.create(**arguments, delay="1d", expires_at=at)
    assert (first.key, first.labels) == (key, [label])
    assert first.expires_at is not None and abs(first.expires_at - at) < timedelta(milliseconds=1)
    with pytest.raises(errors.ConflictError) as caught:
        belfry.tasks.create(**arguments, delay="1d")
    assert caught.value.code == "key_in_use"
    assert belfry.tasks.create(**arguments, delay="1d", on_conflict="keep").id == first.id
    assert [task.id for task in belfry.tasks.list(label=label, state="pending")] == [first.id]
    assert belfry.tasks.cancel_many(filter={"label": label, "until": at}).cancelled == 1
    assert belfry.tasks.get(first.id).state == "cancelled"


def test_retries_are_stopped(belfry: Belfry, receiver: Receiver) -> None:
    receiver.status = 500
    [task] = belfry.events.publish(topic="a.stop", payload={}, target_url=receiver.url).tasks
    wait_for(lambda: belfry.tasks.get(task.id).state == "retrying")
    stopped = belfry.tasks.stop(task.id)
    assert (stopped.state, stopped.state_reason) == ("dead", "stopped")
    assert belfry.tasks.stop_many([task.id]).stopped == 0


def test_a_queue_holds_its_tasks_while_it_is_paused(belfry: Belfry, receiver: Receiver) -> None:
    name = f"q-{uuid.uuid4().hex}"
    queue = belfry.queues.put(name, max_concurrent=2, rate_limit={"count": 10, "period_ms": 1_000})
    assert (queue.max_concurrent, queue.rate_limit and queue.rate_limit.count, queue.ordered) == (2, 10, False)
    assert belfry.queues.update(name, ordered=True).ordered
    assert belfry.queues.pause(name).paused_at is not None
    task = belfry.tasks.create(target_url=receiver.url, delay="1s", queue=name)
    wait_for(lambda: belfry.queues.get(name).waiting == 1)
    assert (task.queue, receiver.calls) == (name, [])
    assert belfry.queues.resume(name).paused_at is None
    wait_for(lambda: receiver.calls)
    assert name in {each.name for each in belfry.queues.list()}
    wait_for(lambda: belfry.tasks.get(task.id).state == "success")
    belfry.queues.delete(name)


def test_a_callback_reports_the_outcome(belfry: Belfry, receiver: Receiver) -> None:
    task = belfry.tasks.create(target_url=receiver.url, delay="1s", on_success={"url": f"{receiver.url}/done"})
    assert task.on_success is not None and task.on_success.url == f"{receiver.url}/done"
    [callback] = wait_for(lambda: list(belfry.tasks.list(callback_of=task.id)))
    assert (callback.source, callback.callback_of) == ("callback", task.id)
    wait_for(lambda: len(receiver.calls) == 2)


def test_errors_name_the_fields(belfry: Belfry) -> None:
    with pytest.raises(errors.ValidationError) as caught:
        belfry.tasks.create(target_url="nowhere", execute_at="2001-01-01T00:00:00Z")
    assert {(each.path, each.code) for each in caught.value.errors} >= {("execute_at", "execute_at_not_future")}
    with pytest.raises(errors.NotFoundError):
        belfry.tasks.get("task_00000000000000000000000000")
    with pytest.raises(errors.AuthenticationError):
        Belfry("bf_wrong").tasks.get("task_00000000000000000000000000")


def test_a_repeated_create_makes_one_task(belfry: Belfry) -> None:
    arguments: dict[str, Any] = {"target_url": "https://example.com/", "execute_at": "2098-01-01T00:00:00Z"}
    key = uuid.uuid4().hex
    first, second = (belfry.tasks.create(**arguments, idempotency_key=key) for _ in range(2))
    assert first.id == second.id


def test_a_batch_and_lists_over_pages(belfry: Belfry) -> None:
    name = f"Batch {uuid.uuid4().hex}"
    at = datetime(2097, 1, 1, tzinfo=timezone.utc)
    rows: list[dict[str, Any]] = [{"target_url": "https://example.com/", "execute_at": at, "name": name}] * 7
    results = belfry.tasks.create_many([*rows, {"target_url": "nowhere", "delay": "1h"}])
    assert [result.task is not None for result in results] == [True] * 7 + [False]
    assert results[7].error is not None and results[7].error.code == "validation_failed"
    assert len(list(belfry.tasks.list(name=name, state=["pending", "dead"], limit=3))) == 7
    page = belfry.tasks.list(name=name, limit=3).first_page()
    rest = belfry.tasks.list(name=name, limit=100, cursor=page.next_cursor).first_page()
    assert (len(page.data), len(rest.data), rest.next_cursor) == (3, 4, None)
    assert list(belfry.tasks.list(name=name, until=at)) == []


def test_a_cron_job(belfry: Belfry) -> None:
    job = belfry.cron_jobs.create(
        target_url="https://example.com/", cron="30 2 * * *", timezone="Europe/Berlin", payload={"a": None}
    )
    assert (job.status, len(job.next_runs), job.payload) == ("active", 5, {"a": None})
    assert belfry.cron_jobs.update(job.id, cron="0 3 * * 1").description != job.description
    assert belfry.cron_jobs.pause(job.id).status == "paused"
    assert belfry.cron_jobs.resume(job.id).status == "active"
    assert belfry.cron_jobs.trigger(job.id).cronjob_id == job.id
    assert job.id in {each.id for each in belfry.cron_jobs.list(status="active")}
    belfry.cron_jobs.delete(job.id)
    with pytest.raises(errors.NotFoundError):
        belfry.cron_jobs.get(job.id)
    preview = belfry.cron_jobs.preview(cron="30 2 * * *", timezone="Europe/Berlin", since="2026-03-28T12:00:00Z", count=2)
    assert [note.code for note in preview.notes] == ["clock_gap"]


def test_an_event_reaches_its_subscription(belfry: Belfry, receiver: Receiver) -> None:
    topic = f"orders.{uuid.uuid4().hex}"
    subscription = belfry.subscriptions.create(topic=topic, target_url=receiver.url)
    assert belfry.subscriptions.update(subscription.id, timeout_ms=5_000).timeout_ms == 5_000
    condition = {"path": "n", "op": "lt", "value": 2.5}
    filtered = belfry.subscriptions.update(subscription.id, filter=[condition])
    assert filtered.filter == [Condition(path="n", op="lt", value=2.5)]
    assert belfry.events.publish(topic=topic, payload={"n": 3}).tasks == []
    assert subscription.id in {each.id for each in belfry.subscriptions.list()}
    event = belfry.events.publish(topic=topic, payload={"n": 1})
    assert [task.event_id for task in event.tasks] == [event.id]
    wait_for(lambda: receiver.calls)
    belfry.subscriptions.delete(subscription.id)
    assert belfry.events.publish(topic=topic, payload={}).tasks == []


def test_a_dead_letter_is_replayed(belfry: Belfry, receiver: Receiver) -> None:
    receiver.status = 410
    event = belfry.events.publish(topic="a.dead", payload={}, target_url=receiver.url)
    [dead] = wait_for(lambda: [each for each in belfry.dead_letters.list() if each.event_id == event.id])
    receiver.status = 200
    assert belfry.dead_letters.replay([dead.id], per_second=10).replayed == 1
    assert belfry.dead_letters.discard(filter={"topic": "a.dead"}).discarded == 0
    wait_for(lambda: len(receiver.calls) == 2)


def test_workspace_and_organization_of_the_key(belfry: Belfry) -> None:
    workspace = belfry.workspaces.get()
    organization = belfry.organizations.get(workspace.organization_id)
    assert organization.policy is None
    assert [each.id for each in belfry.organizations.workspaces(organization.id)] == [workspace.id]
    assert all(member.user.email for member in belfry.workspaces.members())
    belfry.workspaces.put_secret("PYTHON", "a value")
    assert "PYTHON" in {secret.name for secret in belfry.workspaces.secrets()}
    belfry.workspaces.delete_secret("PYTHON")


def test_the_asynchronous_client() -> None:
    async def run() -> None:
        async with AsyncBelfry() as belfry:
            name = f"Async {uuid.uuid4().hex}"
            create = belfry.tasks.create
            tasks = await asyncio.gather(
                *(create(target_url="https://example.com/", delay="1d", name=name) for _ in range(4))
            )
            listed = {task.id async for task in belfry.tasks.list(name=name, limit=3)}
            assert listed == {task.id for task in tasks}
            with pytest.raises(errors.NotFoundError):
                await belfry.runs.get("run_00000000000000000000000000")

    asyncio.run(run())


def test_the_programs_of_the_readme(monkeypatch: pytest.MonkeyPatch, receiver: Receiver) -> None:
    readme = (Path(__file__).parent.parent / "README.md").read_text()
    client, asynchronous, receiving, _working = re.findall(r"```python\n(.*?)```", readme, re.S)
    exec(client.replace("https://example.com/hooks", receiver.url), {})
    exec(asynchronous, {})
    secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
    monkeypatch.setenv("BELFRY_SIGNING_SECRET", secret)
    names: dict[str, Any] = {}
    exec(receiving, names)
    assert names["receive"](b'{"id":7}', webhooks.sign(b'{"id":7}', secret)) == 204
    wait_for(lambda: receiver.calls)
