import base64
from datetime import datetime, timedelta, timezone

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from belfry_client import webhooks

secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
body = b'{"a":"\xc3\xa4"}'


def test_verifies_what_it_signs() -> None:
    verified = webhooks.verify(body, webhooks.sign(body, secret, id="task_1"), secret)
    assert verified.id == "task_1"
    assert verified.payload == {"a": "ä"}
    assert abs(verified.timestamp - datetime.now(timezone.utc)) < timedelta(seconds=5)


def test_agrees_with_the_example_of_standard_webhooks() -> None:
    headers = webhooks.sign(
        '{"test": 2432232314}',
        secret,
        id="msg_p5jXN8AQM9LWM0D4loKWxJek",
        timestamp=datetime.fromtimestamp(1614265330, timezone.utc),
    )
    assert headers["webhook-signature"] == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="


def test_accepts_either_secret_during_a_rotation() -> None:
    headers = webhooks.sign(body, secret)
    assert webhooks.verify(body, headers, ["whsec_AAAA", secret]).id == "task_test"


def test_header_names_are_case_insensitive_and_a_missing_body_has_no_payload() -> None:
    headers = {name.upper(): value for name, value in webhooks.sign(b"", secret).items()}
    assert webhooks.verify(b"", headers, secret).payload is None


@pytest.mark.parametrize(
    "change",
    [
        {"webhook-signature": "v1,AAAA"},
        {"webhook-signature": ""},
        {"webhook-id": "task_2"},
        {"webhook-timestamp": "soon"},
        {"webhook-timestamp": "1"},
    ],
)
def test_refuses_a_changed_request(change: dict[str, str]) -> None:
    headers = {**webhooks.sign(body, secret, id="task_1"), **change}
    with pytest.raises(webhooks.WebhookVerificationError):
        webhooks.verify(body, headers, secret)


def test_refuses_another_body() -> None:
    with pytest.raises(webhooks.WebhookVerificationError):
        webhooks.verify(b"{}", webhooks.sign(body, secret), secret)


@pytest.mark.parametrize("wrong", [None, "", [], "bf_key", "whsec_%%%"])
def test_refuses_a_wrong_secret(wrong: str | list[str] | None) -> None:
    with pytest.raises(ValueError):
        webhooks.verify(body, webhooks.sign(body, secret), wrong)


def test_verifies_an_ed25519_signature_by_the_public_key() -> None:
    private = Ed25519PrivateKey.generate()
    public_key = "whpk_" + base64.b64encode(private.public_key().public_bytes_raw()).decode()
    headers = webhooks.sign(body, secret)
    signed = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.".encode() + body
    asymmetric = "v1a," + base64.b64encode(private.sign(signed)).decode()
    both = {**headers, "webhook-signature": f"{headers['webhook-signature']} {asymmetric}"}
    assert webhooks.verify(body, both, public_key).id == "task_test"
    assert webhooks.verify(body, both, secret).id == "task_test"
    for sent, given in [(body + b" ", both), (body, headers), (body, {**headers, "webhook-signature": "v1a,!"})]:
        with pytest.raises(webhooks.WebhookVerificationError):
            webhooks.verify(sent, given, public_key)
    with pytest.raises(ValueError, match="whpk_"):
        webhooks.verify(body, both, "whpk_AAAA")
