"""Calls every method of the published Python client once. Environment: QSTASH_URL, QSTASH_TOKEN, TARGET."""

import os
import time

from qstash import QStash, Receiver
from qstash.errors import QStashError
from qstash.log import LogState

target = os.environ["TARGET"]
client = QStash(os.environ["QSTASH_TOKEN"], retry=False)


def refused(call, text):
    try:
        call()
    except QStashError as error:
        assert text in str(error), error
    else:
        raise AssertionError("was not refused")


def eventually(ask):
    for _ in range(600):
        found = ask()
        if found:
            return found
        time.sleep(0.025)
    raise AssertionError("not in time")


published = client.message.publish(url=f"{target}/python", body=b"\x00\xff", content_type="application/octet-stream", label="python")
later = client.message.publish_json(
    url=f"{target}/later?a=b",
    body={"a": 1},
    delay="1h",
    headers={"X-Own": "1"},
    retries=2,
    retry_delay="1000 * (1 + retried)",
    callback=f"{target}/callback",
    failure_callback=f"{target}/failure",
    timeout="10s",
    flow_control={"key": "py", "parallelism": 2, "rate": 3, "period": 60},
)
message = client.message.get(later.message_id)
assert message.body == '{"a": 1}' and message.max_retries == 2 and message.url == f"{target}/later?a=b"
assert message.headers["X-Own"] == ["1"] and message.callback == f"{target}/callback"
assert message.flow_control.key == "py" and message.flow_control.rate == 3
client.message.cancel(later.message_id)
refused(lambda: client.message.cancel(later.message_id), "404")

batch = client.message.batch_json([{"url": f"{target}/b", "body": {"n": n}, "delay": "1h"} for n in range(3)])
assert client.message.cancel_many([one.message_id for one in batch[:2]]) == 2
client.message.batch([{"url": f"{target}/b", "body": "x", "delay": "1h", "queue": "py"}])
assert client.message.cancel_all() == 2

client.queue.upsert("py-queue", parallelism=3, paused=True)
client.message.enqueue(queue="py-queue", url=f"{target}/queued", body="x")
client.message.enqueue_json(queue="py-queue", url=f"{target}/queued", body={})
assert eventually(lambda: client.queue.get("py-queue").lag == 2)
client.queue.resume("py-queue")
client.queue.pause("py-queue")
assert "py-queue" in [queue.name for queue in client.queue.list()]
client.message.cancel_all()
client.queue.resume("py-queue")


def delete_queue():
    try:
        client.queue.delete("py-queue")
        return True
    except QStashError:
        return False


assert eventually(delete_queue)

client.url_group.upsert_endpoints("py-group", [{"url": f"{target}/g1", "name": "one"}, {"url": f"{target}/g2"}])
assert len(client.message.publish(url_group="py-group", body="x")) == 2
client.url_group.remove_endpoints("py-group", [{"name": "one"}])
assert [one.url for one in client.url_group.get("py-group").endpoints] == [f"{target}/g2"]
assert "py-group" in [group.name for group in client.url_group.list()]
client.url_group.delete("py-group")

schedule_id = client.schedule.create_json(destination=f"{target}/s", cron="0 0 * * *", body={"a": 1}, schedule_id="py")
assert client.schedule.create(destination=f"{target}/s", cron="0 1 * * *", schedule_id="py") == schedule_id == "py"
assert client.schedule.get("py").cron == "0 1 * * *"
client.schedule.pause("py")
assert client.schedule.get("py").paused
client.schedule.resume("py")
assert [schedule.schedule_id for schedule in client.schedule.list()] == ["py"]
client.schedule.delete("py")

client.message.publish(url=f"{target}/dead", body="x", retries=0)
client.message.publish(url=f"{target}/dead", body="y", retries=0)
dead = eventually(lambda: len(found := client.dlq.list(count=10).messages) == 2 and found)
assert client.dlq.get(dead[0].dlq_id).response_status == 500
client.dlq.delete(dead[0].dlq_id)
assert client.dlq.delete_many([dead[1].dlq_id]) == 1

logs = eventually(
    lambda: (found := client.log.list(filter={"message_id": published.message_id}).logs)
    and found[0].state == LogState.DELIVERED
    and found
)
assert [log.state for log in logs] == [LogState.DELIVERED, LogState.ACTIVE, LogState.CREATED]
assert logs[0].body_base64 == "AP8=" and logs[0].label == "python"

client.flow_control.pin("py", {"parallelism": 5})
client.flow_control.pause("py")
info = client.flow_control.get("py")
assert info.is_paused and info.is_pinned_parallelism and info.parallelism_max == 5
client.flow_control.resume("py")
client.flow_control.unpin("py", {"parallelism": True})
client.flow_control.reset_rate("py")
assert client.flow_control.get_global_parallelism().parallelism_count >= 0

before = client.signing_key.get()
after = client.signing_key.rotate()
assert after.current == before.next
refused(lambda: QStash("bf_wrong", retry=False).message.publish(url=target, body="x"), "401")
if "SIGNATURE" in os.environ:
    receiver = Receiver(before.current, before.next)
    receiver.verify(signature=os.environ["SIGNATURE"], body="signed ü", url=f"{target}/signed")
print("all methods of the Python client")
