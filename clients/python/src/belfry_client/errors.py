"""The errors of this library. All derive from `BelfryError`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


class BelfryError(Exception):
    """The base class of all errors of this library."""


class ConnectionError(BelfryError):
    """No response arrived: the server is unreachable, or the connection broke."""


class TimeoutError(ConnectionError):
    """No complete response arrived within the timeout."""


@dataclass(frozen=True)
class FieldError:
    """An invalid field of a request."""

    path: str
    """The path of the field, such as `execute_at` or `tasks[3].url`."""
    code: str
    """A stable code, such as `execute_at_not_future` or `required`."""
    message: str
    """A sentence that says what to do."""


class ApiError(BelfryError):
    """The server returned an error. Distinguish errors by `code`, or by the subclasses."""

    def __init__(self, status: int, body: Any, headers: Mapping[str, str], request: str) -> None:
        problem = body if isinstance(body, dict) else {}
        self.status = status
        self.code: str = str(problem.get("code", "unknown"))
        """A stable code in snake_case, such as `task_not_pending`."""
        self.detail: str = str(problem.get("detail") or problem.get("title") or f"The server answered {status}.")
        self.request_id: str | None = problem.get("request_id") or headers.get("x-request-id")
        """The id of the request in the server's log."""
        self.errors = [
            FieldError(str(error.get("path", "")), str(error.get("code", "")), str(error.get("message", "")))
            for error in problem.get("errors") or []
        ]
        """All invalid fields, when `code` is `validation_failed`."""
        self.body = body
        self.headers = headers
        fields = "".join(f"\n- {error.path}: {error.message}" for error in self.errors)
        super().__init__(f"{status} {self.code}: {self.detail} ({request}){fields}")


class ValidationError(ApiError):
    """400: the request is invalid; `errors` lists all invalid fields."""


class AuthenticationError(ApiError):
    """401: the API key or the session is missing, unknown, expired or revoked."""


class QuotaError(ApiError):
    """402: the organization has reached a limit of its tier."""


class PermissionError(ApiError):
    """403: the caller is not allowed to do this."""


class NotFoundError(ApiError):
    """404: nothing with this id exists for the caller."""


class ConflictError(ApiError):
    """409: the current state of the object does not allow this, such as `task_not_pending`."""


class RateLimitError(ApiError):
    """429: too many requests, even after the retries."""


class ServerError(ApiError):
    """5xx: the server failed, even after the retries."""


_classes: dict[int, type[ApiError]] = {
    400: ValidationError,
    401: AuthenticationError,
    402: QuotaError,
    403: PermissionError,
    404: NotFoundError,
    409: ConflictError,
    429: RateLimitError,
}


def to_api_error(status: int, body: Any, headers: Mapping[str, str], request: str) -> ApiError:
    """Returns the error for an error response."""
    error_class = _classes.get(status, ServerError if status >= 500 else ApiError)
    return error_class(status, body, headers, request)
