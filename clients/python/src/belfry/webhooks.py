"""Verifies requests that Belfry sent, by the rules of Standard Webhooks."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import Any

from .errors import BelfryError


class WebhookVerificationError(BelfryError):
    """The request does not come from Belfry, was changed in transit, or is too old."""


@dataclass(frozen=True)
class VerifiedWebhook:
    """A verified request."""

    id: str
    """The same for all attempts of a task: ignore ids that you have processed."""
    timestamp: datetime
    """The time of the attempt."""
    payload: Any
    """The parsed JSON; bytes if the content type is not JSON; None if the request has no body."""


def verify(
    body: bytes | str,
    headers: Mapping[str, str],
    secret: str | Sequence[str] | None,
    *,
    tolerance_seconds: float = 300,
) -> VerifiedWebhook:
    """Verifies that Belfry sent a request. Respond with 2xx only afterwards.

    Args:
        body: The raw body, before any parsing.
        headers: The headers of the request. Names are case-insensitive.
        secret: The workspace's signing secret, `whsec_...`; a list of both during a rotation.
        tolerance_seconds: The maximum age of a request, and the maximum time in the future.

    Raises:
        WebhookVerificationError: The signature is wrong, missing or too old.
        ValueError: There is no secret, or it is not a signing secret.
    """
    keys = [_key_of(text) for text in _secrets_of(secret)]
    raw = body.encode() if isinstance(body, str) else bytes(body)
    lower = {name.lower(): value for name, value in headers.items()}
    message_id, seconds, signatures = (
        _header(lower, name) for name in ("webhook-id", "webhook-timestamp", "webhook-signature")
    )
    if not (seconds.isascii() and seconds.isdigit()) or abs(time.time() - int(seconds)) > tolerance_seconds:
        raise WebhookVerificationError("The webhook-timestamp of the request is too old, or in the future.")
    signed = f"{message_id}.{seconds}.".encode() + raw
    given = [part[3:].encode() for part in signatures.split(" ") if part.startswith("v1,")]
    for key in keys:
        expected = _signature(key, signed)
        if any(hmac.compare_digest(expected, signature) for signature in given):
            at = datetime.fromtimestamp(int(seconds), timezone.utc)
            return VerifiedWebhook(message_id, at, _payload(raw, lower.get("content-type", "application/json")))
    raise WebhookVerificationError("The request has no valid signature for this secret.")


def sign(
    body: bytes | str, secret: str, *, id: str = "task_test", timestamp: datetime | None = None
) -> dict[str, str]:
    """Signs a request as Belfry does, for tests of receivers. Returns the headers of the signature."""
    raw = body.encode() if isinstance(body, str) else bytes(body)
    seconds = str(int(timestamp.timestamp() if timestamp else time.time()))
    signature = _signature(_key_of(secret), f"{id}.{seconds}.".encode() + raw).decode()
    return {"webhook-id": id, "webhook-timestamp": seconds, "webhook-signature": f"v1,{signature}"}


def _signature(key: bytes, signed: bytes) -> bytes:
    return base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest())


# Without a secret every request would be refused, and Belfry would retry for an hour.
def _secrets_of(secret: str | Sequence[str] | None) -> list[str]:
    given = [text for text in ([secret] if isinstance(secret, str) else secret or []) if text]
    if given:
        return given
    raise ValueError("There is no signing secret. Set it to the whsec_... of your workspace.")


def _key_of(secret: str) -> bytes:
    try:
        if secret.startswith("whsec_"):
            return base64.b64decode(secret.removeprefix("whsec_"), validate=True)
    except binascii.Error:
        pass
    raise ValueError("A signing secret is whsec_ followed by base64, not an API key or other text.")


def _header(lower: Mapping[str, str], name: str) -> str:
    value = lower.get(name)
    if not value:
        raise WebhookVerificationError(f"The request has no {name} header.")
    return value


def _payload(raw: bytes, content_type: str) -> Any:
    if not raw:
        return None
    if "json" not in content_type.lower():
        return raw
    try:
        return json.loads(raw)
    except ValueError:
        return raw  # the sender of the task claims JSON
