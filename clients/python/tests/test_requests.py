import json
from datetime import datetime, timedelta, timezone
from decimal import Decimal
from typing import Any

import httpx
import pytest

from belfry_client import UNSET, AsyncBelfry, Belfry, JsonText, errors
from belfry_client._json import parse_json, write_json, write_time
from belfry_client._requests import new_task, parse_duration, path, time_after, to_json, to_query


def test_a_body_keeps_json_text_and_large_numbers() -> None:
    body = to_json({"payload": JsonText('{"total": 1.10}'), "n": 12345678901234567890, "left_out": UNSET, "null": None})
    assert body == b'{"payload":{"total": 1.10},"n":12345678901234567890,"null":null}'


def test_a_body_has_the_bytes_of_its_text() -> None:
    text = "\0\n\u2028\x7f\"\\/\u00e9\U0001f600\ud83d"
    payload = write_json({text: [text]})
    assert payload.encode() == (
        b'{"\\u0000\\n\xe2\x80\xa8\x7f\\"\\\\/\xc3\xa9\xf0\x9f\x98\x80\\ud83d":'
        b'["\\u0000\\n\xe2\x80\xa8\x7f\\"\\\\/\xc3\xa9\xf0\x9f\x98\x80\\ud83d"]}'
    )
    assert json.loads(payload) == {text: [text]}


long = "9" * 5_000


@pytest.mark.parametrize("number", ["7", "-9007199254740993", "12345678901234567890", "1.1", "-0.5", "1e+21", "5e-324"])
def test_what_a_float_or_an_int_holds_stays_one(number: str) -> None:
    value = parse_json(number)
    assert type(value) in (int, float) and value == json.loads(number)
    assert write_json(value) == number


@pytest.mark.parametrize(
    "number", ["0.12345678901234567890", "-1.00000000000000000001", "12345678901234567.5", "1E+400", "-1E-400", long]
)
def test_what_a_float_would_change_is_a_decimal_and_keeps_its_digits(number: str) -> None:
    value = parse_json(f'{{"n": [{number}]}}')
    assert value == {"n": [Decimal(number)]} and isinstance(value["n"][0], Decimal)
    assert write_json(value) == f'{{"n":[{number}]}}'
    assert to_json({"payload": JsonText(f"[{number}]")}) == f'{{"payload":[{number}]}}'.encode()


def test_other_spellings_of_a_float_stay_floats() -> None:
    numbers = parse_json("[1.10, 100.0, 1E2, 0.30000000000000004, -0.0, 1.7976931348623157e308]")
    assert [type(number) for number in numbers] == [float] * 6
    assert numbers == [1.1, 100.0, 100.0, 0.1 + 0.2, 0.0, 1.7976931348623157e308]


def test_a_body_refuses_what_is_not_json() -> None:
    for value in (JsonText("{"), float("nan"), Decimal("NaN"), Decimal("-Infinity"), object()):
        with pytest.raises((ValueError, TypeError)):
            to_json({"payload": value})


def test_errors_of_a_body_name_the_field() -> None:
    with pytest.raises(ValueError, match="^payload is a JsonText, but not JSON: "):
        to_json({"payload": JsonText("{")})
    with pytest.raises(ValueError, match="^execute_at: A datetime requires a time zone"):
        to_json({"execute_at": datetime(2026, 1, 2)})
    with pytest.raises(TypeError, match="^headers: .*not JSON serializable"):
        to_json({"headers": {"X-Object": object()}})


def test_times_need_a_zone() -> None:
    assert write_time(datetime(2026, 1, 2, 3, 4, 5, 678000, timezone.utc)) == "2026-01-02T03:04:05.678+00:00"
    with pytest.raises(ValueError):
        write_time(datetime(2026, 1, 2))


@pytest.mark.parametrize(
    ("text", "seconds"), [("90s", 90), ("1h30m", 5400), ("2d", 172_800), ("250ms", 0.25), ("1.5h", 5400), ("1w", 604_800)]
)
def test_durations(text: str, seconds: float) -> None:
    assert parse_duration(text) == timedelta(seconds=seconds)


@pytest.mark.parametrize("text", ["", "3", "h", "3 h", "-3h", "3hours"])
def test_refuses_what_is_no_duration(text: str) -> None:
    with pytest.raises(ValueError):
        parse_duration(text)


def test_a_task_has_one_time() -> None:
    for delay, at in ((None, None), ("1h", "2099-01-01T00:00:00Z")):
        with pytest.raises(TypeError):
            time_after(delay, at)


def test_a_time_without_a_zone_is_local_in_the_time_zone_of_the_task() -> None:
    nine = datetime(2027, 1, 31, 9)
    utc = datetime(2027, 1, 31, 10, tzinfo=timezone.utc)
    fields = {"timezone": "Europe/Berlin", "execute_at": nine, "expires_at": utc, "payload": {"at": utc}}
    assert json.loads(to_json(new_task(fields, "https://example.com", "post", None))) == {
        "name": "POST example.com",
        "url": "https://example.com",
        "method": "POST",
        "timezone": "Europe/Berlin",
        "execute_at": "2027-01-31T09:00:00.000",
        "expires_at": "2027-01-31T10:00:00.000+00:00",
        "payload": {"at": "2027-01-31T10:00:00.000+00:00"},
    }
    with pytest.raises(ValueError):
        to_json(new_task({"execute_at": nine}, "https://example.com", "post", None))


def test_paths_and_queries_are_escaped() -> None:
    assert path("/tasks/{}", "a/../b?c") == "/tasks/a%2F..%2Fb%3Fc"
    assert to_query({"state": ["dead", "cancelled"], "name": None, "limit": 5}) == [
        ("state", "dead"),
        ("state", "cancelled"),
        ("limit", "5"),
    ]
    assert to_query({"upcoming": True}) + to_query({"upcoming": False}) == [("upcoming", "true"), ("upcoming", "false")]


class Server:
    """Answers requests with the given responses, in order; an exception is raised."""

    def __init__(self, *answers: httpx.Response | Exception) -> None:
        self.answers = list(answers)
        self.requests: list[httpx.Request] = []

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer


def client_of(server: Server, **options: Any) -> Belfry:
    return Belfry("bf_test", base_url="http://belfry.test", transport=httpx.MockTransport(server), **options)


@pytest.fixture(autouse=True)
def no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("time.sleep", lambda _: None)


def problem(status: int, code: str, **headers: str) -> httpx.Response:
    body = {"status": status, "code": code, "detail": "Because.", "request_id": "req_1", "errors": []}
    return httpx.Response(status, json=body, headers={"content-type": "application/problem+json", **headers})


event = {"id": "evt_1", "topic": "a.b", "tasks": []}


def test_a_create_is_repeated_with_the_same_key() -> None:
    server = Server(httpx.ConnectError("away"), problem(502, "bad_gateway"), httpx.Response(202, json=event))
    assert client_of(server).events.publish(topic="a.b", payload={}).id == "evt_1"
    keys = {request.headers["idempotency-key"] for request in server.requests}
    assert (len(server.requests), len(keys)) == (3, 1)
    assert json.loads(server.requests[0].content) == {"topic": "a.b", "payload": {}}


def test_what_is_not_safe_is_not_repeated() -> None:
    unavailable = problem(503, "unavailable")
    for failure, kind in ((httpx.ReadTimeout("late"), errors.TimeoutError), (unavailable, errors.ServerError)):
        server = Server(failure)
        with pytest.raises(kind):
            client_of(server).cron_jobs.trigger("cron_1")
        assert len(server.requests) == 1


def test_a_refusal_by_rate_limit_is_repeated_unless_the_wait_is_long() -> None:
    server = Server(problem(429, "rate_limited", **{"retry-after": "1"}), httpx.Response(204))
    client_of(server).cron_jobs.delete("cron_1")
    assert len(server.requests) == 2
    long = Server(problem(429, "rate_limited", **{"retry-after": "60.5"}))
    with pytest.raises(errors.RateLimitError):
        client_of(long).cron_jobs.delete("cron_1")


def test_retries_end() -> None:
    server = Server(*[httpx.ConnectError("away") for _ in range(5)])
    with pytest.raises(errors.ConnectionError):
        client_of(server, max_retries=1).tasks.get("task_1")
    assert len(server.requests) == 2


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (400, errors.ValidationError),
        (401, errors.AuthenticationError),
        (402, errors.QuotaError),
        (403, errors.PermissionError),
        (404, errors.NotFoundError),
        (409, errors.ConflictError),
        (418, errors.ApiError),
        (500, errors.ServerError),
    ],
)
def test_errors_by_status(status: int, kind: type[errors.ApiError]) -> None:
    server = Server(problem(status, "some_code"))
    with pytest.raises(kind) as caught:
        client_of(server, max_retries=0).tasks.get("task_1")
    assert (caught.value.code, caught.value.request_id, caught.value.status) == ("some_code", "req_1", status)
    assert str(caught.value) == f"{status} some_code: Because. (GET /api/v1/scheduler/tasks/task_1)"


def test_an_answer_that_is_not_of_belfry() -> None:
    for response in (httpx.Response(200, text="<html>"), httpx.Response(302, headers={"location": "http://other.test"})):
        with pytest.raises(errors.BelfryError, match="base_url"):
            client_of(Server(response)).tasks.get("task_1")


def test_a_key_is_required(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("BELFRY_API_KEY", raising=False)
    for client in (Belfry, AsyncBelfry):
        with pytest.raises(ValueError, match="BELFRY_API_KEY"):
            client()


def test_a_session_token_names_its_workspace() -> None:
    server = Server(httpx.Response(200, json={"data": [], "next_cursor": None}))
    transport = httpx.MockTransport(server)
    client = Belfry(session_token="jwt", workspace_id="ws_1", base_url="http://belfry.test", transport=transport)
    assert list(client.tasks.list()) == []
    headers = server.requests[0].headers
    assert (headers["authorization"], headers["x-workspace-id"]) == ("Bearer jwt", "ws_1")
    assert "x-api-key" not in headers


def test_ids_that_would_change_the_path_are_refused_before_any_request() -> None:
    client = client_of(Server())
    for call in (client.tasks.get, client.cron_jobs.delete, client.queues.pause, client.workspaces.delete_secret):
        for id in ("", ".", "..", None):
            with pytest.raises(TypeError, match="An id must be text"):
                call(id)  # type: ignore[operator]


def test_a_field_that_the_server_leaves_out_is_empty() -> None:
    task = client_of(Server(httpx.Response(200, json={"id": "task_1", "state": "pending", "new": 1}))).tasks.get("task_1")
    assert (task.id, task.state, task.labels, task.headers, task.last_run) == ("task_1", "pending", [], {}, None)
    assert task.raw["new"] == 1


def test_digits_of_an_answer_survive_the_way_back() -> None:
    payload = '{"id":12345678901234567890,"price":0.12345678901234567890,"rate":0.1}'
    content = f'{{"id": "task_1", "payload": {payload}}}'.encode()
    answer = httpx.Response(200, content=content, headers={"content-type": "application/json"})
    server = Server(answer, answer)
    client = client_of(server)
    task = client.tasks.get("task_1")
    assert task.payload == task.raw["payload"]
    assert task.payload == {"id": 12345678901234567890, "price": Decimal("0.12345678901234567890"), "rate": 0.1}
    client.tasks.update("task_1", payload=task.payload)
    assert server.requests[1].content == f'{{"payload":{payload}}}'.encode()


def test_an_update_sends_only_what_is_given() -> None:
    server = Server(httpx.Response(200, json={"id": "task_1"}))
    client_of(server).tasks.update("task_1", target_url="https://example.com/b", method="put", queue=None)
    assert json.loads(server.requests[0].content) == {"url": "https://example.com/b", "method": "PUT", "queue": None}


def test_an_export_is_the_bytes_of_the_response() -> None:
    server = Server(httpx.Response(200, content=b"id,name\r\n", headers={"content-type": "text/csv"}))
    assert b"".join(client_of(server).runs.export(status="failed", format="csv")) == b"id,name\r\n"
    assert str(server.requests[0].url.query, "ascii") == "status=failed&format=csv"
    with pytest.raises(errors.PermissionError):
        list(client_of(Server(problem(403, "forbidden"))).tasks.export())


def test_a_tail_resumes_after_the_last_run() -> None:
    def events(place: str, *ids: str) -> httpx.Response:
        text = "".join(f'id: {place}\nevent: run\ndata: {{"id": "{id}"}}\n\n' for id in ids)
        return httpx.Response(200, text=f"id: {place}\n\n{text}", headers={"content-type": "text/event-stream"})

    runs = [events("run_b", "run_1", "run_2"), problem(503, "unavailable"), events("run_b", "run_2", "run_3")]
    server = Server(events("run_a"), *runs)
    tail = client_of(server).runs.tail(after="run_0")
    assert [next(tail).id for _ in range(3)] == ["run_1", "run_2", "run_3"]
    assert [request.headers["last-event-id"] for request in server.requests] == ["run_0", "run_a", "run_b", "run_b"]
    with pytest.raises(errors.ServerError):
        next(client_of(Server(problem(503, "unavailable"))).runs.tail())


def test_the_text_of_a_run_does_not_end_a_line_of_a_tail() -> None:
    name = "a\u2028b\u2029c\x85d"
    text = f'id: run_1\r\ndata: {{"id": "run_1", "task_name": "{name}"}}\r\n\r\n'.encode()
    pieces = (text[i : i + 1] for i in range(len(text)))
    answer = httpx.Response(200, content=pieces, headers={"content-type": "text/event-stream"})
    assert next(client_of(Server(answer)).runs.tail()).task_name == name


def test_progress_ends_with_the_operation() -> None:
    states = [("running", 1), ("running", 1), ("running", 2), ("done", 3)]
    server = Server(*[httpx.Response(200, json={"status": status, "done": done}) for status, done in states])
    assert [each.done for each in client_of(server).bulk_operations.progress("op_1")] == [1, 2, 3]
