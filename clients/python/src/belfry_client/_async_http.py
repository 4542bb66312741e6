"""Requests, lists and streams of the asynchronous client. `_sync_http.py` is generated from this file."""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import AsyncIterator, Mapping
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import httpx

from ._decode import Page, decode
from ._json import parse_json
from ._requests import new_idempotency_key, retry_delay, to_json, to_query
from ._version import version
from .errors import ApiError, BelfryError, ConnectionError, TimeoutError, to_api_error

if TYPE_CHECKING:
    from typing_extensions import Self

T = TypeVar("T")


class AsyncHttp:
    """Sends requests, repeats them when that is safe, and reads the answers."""

    def __init__(self, client: httpx.AsyncClient, headers: dict[str, str], max_retries: int) -> None:
        self.client = client
        self._headers = headers
        self._max_retries = max_retries

    async def send(
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
                return await self._attempt(method, target, headers, content, to_query(query or {}))
            except BelfryError as error:
                delay = None if attempt > self._max_retries else retry_delay(error, attempt, is_repeatable)
                if delay is None:
                    raise
            await asyncio.sleep(delay)
            attempt += 1

    async def create(
        self, target: str, body: Mapping[str, Any] | None, idempotency_key: str | None
    ) -> Any:
        return await self.send(
            "POST", target, body=body, idempotency_key=idempotency_key or new_idempotency_key()
        )

    async def _attempt(
        self, method: str, target: str, headers: dict[str, str], content: bytes | None, query: Any
    ) -> Any:
        try:
            response = await self.client.request(method, target, headers=headers, content=content, params=query)
        except httpx.TimeoutException as error:
            raise TimeoutError(f"{method} {target} was not answered in time.") from error
        except httpx.TransportError as error:
            raise ConnectionError(f"{method} {target} failed: {error}") from error
        if response.status_code == 204:
            return None
        is_json = "json" in response.headers.get("content-type", "")
        try:
            answer = parse_json(response.content) if is_json else response.text
        except ValueError as error:
            raise ConnectionError(f"The response to {method} {target} is not complete.") from error
        if response.is_success and is_json:
            return answer
        if response.status_code < 400:
            raise BelfryError(f"The response to {method} {target} is not JSON. Is base_url the URL of Belfry?")
        raise to_api_error(response.status_code, answer, response.headers, f"{method} {target}")


    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)

    async def stream(self, target: str, query: Mapping[str, Any]) -> AsyncIterator[bytes]:
        """Yields the pieces of a response of any size. It is not repeated."""
        headers = {**self._headers, "Accept": "*/*"}
        params: Any = to_query(query)
        async with self.client.stream("GET", target, headers=headers, params=params) as response:
            if not response.is_success:
                await _raise(response, target)
            async for piece in response.aiter_bytes():
                yield piece

    async def tail(self, target: str, kind: type[T], after: str | None) -> AsyncIterator[T]:
        """Yields new objects as the server sends them. Reconnects when the connection breaks, and resumes where it was.

        Args:
            after: The id of an object after which the first one comes. Default: from now on.
        """
        known: dict[str, None] = {}
        failures = 0
        is_first = True
        while True:
            try:
                headers = {**self._headers, "Accept": "text/event-stream", **({"Last-Event-ID": after} if after else {})}
                async with self.client.stream("GET", target, headers=headers, timeout=_silence) as response:
                    if not response.is_success:
                        await _raise(response, target)
                    is_first, failures = False, 0
                    event: dict[str, str] = {}
                    async for line in _lines(response):
                        name, _, value = line.partition(":")
                        if line:
                            event[name] = value[1:] if value.startswith(" ") else value
                            continue
                        given, event = event, {}
                        after = given.get("id") or after
                        # After a reconnection the server repeats the last ones.
                        if "data" not in given or given.get("event", "run") != "run":
                            continue
                        item = parse_json(given["data"])
                        if item["id"] not in known:
                            known[item["id"]] = None
                            yield decode(kind, item)
                        if len(known) > _max_known:
                            del known[next(iter(known))]
            except (httpx.TransportError, ApiError) as error:
                is_passing = not isinstance(error, ApiError) or error.status == 429 or error.status >= 500
                if is_first and isinstance(error, httpx.TransportError):
                    raise ConnectionError(f"GET {target} failed: {error}") from error
                if is_first or not is_passing:
                    raise
            await asyncio.sleep(min(2.0 * 2**failures, _max_wait))
            failures += 1


# The server sends a comment every 15 seconds.
_silence = 45.0
_max_wait = 30.0
# More than the server repeats after a reconnection.
_max_known = 2_000


async def _lines(response: httpx.Response) -> AsyncIterator[str]:
    """Yields the lines of events. Those of httpx also end at U+2028 and others, which may stand in the text of JSON."""
    rest = ""
    async for text in response.aiter_text():
        # A carriage return at the end may belong to a line feed in the next piece.
        *lines, rest = re.split(r"\r\n|\n|\r(?!\Z)", rest + text)
        for line in lines:
            yield line


async def _raise(response: httpx.Response, target: str) -> None:
    await response.aread()
    is_json = "json" in response.headers.get("content-type", "")
    answer = parse_json(response.content) if is_json else response.text
    raise to_api_error(response.status_code, answer, response.headers, f"GET {target}")


class AsyncList(Generic[T]):
    """A list: iterate over it for all items, page by page; `first_page` returns the first page."""

    def __init__(self, http: AsyncHttp, target: str, kind: type[T], filters: Mapping[str, Any]) -> None:
        self._http = http
        self._target = target
        self._kind = kind
        self._filters = filters

    async def first_page(self) -> Page[T]:
        """Returns the first page. Pass its `next_cursor` as `cursor` to read the second one."""
        return await self._page(None)

    async def __aiter__(self) -> AsyncIterator[T]:
        page = await self._page(None)
        while True:
            for item in page.data:
                yield item
            if page.next_cursor is None:
                return
            page = await self._page(page.next_cursor)

    async def _page(self, cursor: str | None) -> Page[T]:
        query = {**self._filters, "cursor": cursor or self._filters.get("cursor")}
        answer = await self._http.send("GET", self._target, query=query)
        return Page([decode(self._kind, item) for item in answer["data"]], answer["next_cursor"])


class AsyncClient:
    """The connections of a client. Close it, or use it in `async with`.

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
        transport: httpx.AsyncBaseTransport | None = None,
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
        client = httpx.AsyncClient(base_url=url, timeout=timeout, transport=transport, follow_redirects=False)
        self._http = AsyncHttp(client, headers, max_retries)
        self._bind(self._http)

    def _bind(self, http: AsyncHttp) -> None:
        """Makes the resources."""

    async def aclose(self) -> None:
        """Closes the connections."""
        await self._http.client.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()
