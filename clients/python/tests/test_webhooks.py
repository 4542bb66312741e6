from datetime import datetime, timedelta, timezone

import pytest

from belfry import webhooks

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
