"""Verifies requests that Belfry sent, by the rules of Standard Webhooks."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
import time
from collections.abc import Callable, Mapping, Sequence
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
        secret: The workspace's signing secret, `whsec_...`, or its public key, `whpk_...`; a list during a rotation. A
            public key needs the extra `belfry-client[ed25519]`.
        tolerance_seconds: The maximum age of a request, and the maximum time in the future.

    Raises:
        WebhookVerificationError: The signature is wrong, missing or too old.
        ValueError: There is no secret, or it is not a signing secret.
    """
    keys = [_verifier_of(text) for text in _secrets_of(secret)]
    raw = body.encode() if isinstance(body, str) else bytes(body)
    lower = {name.lower(): value for name, value in headers.items()}
    message_id, seconds, signatures = (
        _header(lower, name) for name in ("webhook-id", "webhook-timestamp", "webhook-signature")
    )
    if not (seconds.isascii() and seconds.isdigit()) or abs(time.time() - int(seconds)) > tolerance_seconds:
        raise WebhookVerificationError("The webhook-timestamp of the request is too old, or in the future.")
    signed = f"{message_id}.{seconds}.".encode() + raw
    given = [part.partition(",")[::2] for part in signatures.split(" ")]
    for is_valid in keys:
        if any(is_valid(version, signature.encode(), signed) for version, signature in given):
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


# Takes the version of a signature, the signature in base64, and the bytes that it signs.
_Verifier = Callable[[str, bytes, bytes], bool]


def _verifier_of(secret: str) -> _Verifier:
    if secret.startswith("whpk_"):
        return _public_verifier_of(secret)
    key = _key_of(secret)
    return lambda version, signature, signed: (
        version == "v1" and hmac.compare_digest(_signature(key, signed), signature)
    )


def _public_verifier_of(public_key: str) -> _Verifier:
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    try:
        key = Ed25519PublicKey.from_public_bytes(base64.b64decode(public_key.removeprefix("whpk_"), validate=True))
    except ValueError as error:
        raise ValueError("A public key is whpk_ followed by the base64 of 32 bytes.") from error

    def is_valid(version: str, signature: bytes, signed: bytes) -> bool:
        if version != "v1a":
            return False
        try:
            key.verify(base64.b64decode(signature, validate=True), signed)
        except (InvalidSignature, binascii.Error):
            return False
        return True

    return is_valid


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
