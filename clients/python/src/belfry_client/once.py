"""Does the work of a webhook once: the effect and the `webhook-id` commit in one transaction."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Dialect:
    """The statements of a database. The row of an id counts its requests, and has the answer of the first one."""

    create_table: str
    """Creates the table, unless it exists."""
    delete_older_than: str
    """Deletes ids that were received earlier: `delete_older_than.format(days=30)`."""
    record: tuple[str, ...]
    keep: str


_record = """INSERT INTO received_webhooks (id) VALUES (%s)
ON CONFLICT (id) DO UPDATE SET times = received_webhooks.times + 1 RETURNING times, answer"""

POSTGRES = Dialect(
    create_table="""CREATE TABLE IF NOT EXISTS received_webhooks (
  id text PRIMARY KEY, times integer NOT NULL DEFAULT 1, received_at timestamptz NOT NULL DEFAULT now(), answer text
)""",
    delete_older_than="DELETE FROM received_webhooks WHERE received_at < now() - interval '{days} days'",
    record=(_record,),
    # now() is the start of the transaction.
    keep="UPDATE received_webhooks SET answer = %s WHERE id = %s AND received_at = now() RETURNING id",
)

SQLITE = Dialect(
    create_table="""CREATE TABLE IF NOT EXISTS received_webhooks (
  id text NOT NULL PRIMARY KEY, times integer NOT NULL DEFAULT 1, received_at text NOT NULL DEFAULT CURRENT_TIMESTAMP, answer text
)""",
    delete_older_than="DELETE FROM received_webhooks WHERE received_at < datetime('now', '-{days} days')",
    record=(_record,),
    keep="UPDATE received_webhooks SET answer = %s WHERE id = %s RETURNING id",
)

MYSQL = Dialect(
    # Binary: the other collations ignore case or trailing spaces.
    create_table="""CREATE TABLE IF NOT EXISTS received_webhooks (
  id varbinary(255) PRIMARY KEY, times integer NOT NULL DEFAULT 1,
  received_at timestamp NOT NULL DEFAULT CURRENT_TIMESTAMP, answer mediumtext CHARACTER SET utf8mb4
)""",
    delete_older_than="DELETE FROM received_webhooks WHERE received_at < now() - INTERVAL {days} DAY",
    record=(
        "INSERT INTO received_webhooks (id) VALUES (%s) ON DUPLICATE KEY UPDATE times = times + 1",
        "SELECT times, answer FROM received_webhooks WHERE id = %s",
    ),
    keep="UPDATE received_webhooks SET answer = %s WHERE id = %s",
)


def once(connection: Any, id: str, work: Callable[[], Any], dialect: Dialect = POSTGRES) -> Any:
    """Does the work of a webhook unless an earlier request with its id did it, and then returns the earlier answer.

    A request that comes while the first one works waits until that has committed or rolled back. The caller commits, and rolls
    back when the work fails.

    Args:
        connection: A connection of psycopg, sqlite3, PyMySQL or Django, in the transaction that has the effect.
        id: The verified `webhook-id`.
        work: The effect, in the same transaction. Returns the answer: a JSON value or None.
        dialect: The dialect of the database.

    Raises:
        RuntimeError: The connection commits each statement.
    """
    with closing(connection.cursor()) as cursor:

        def run(statement: str, *values: str) -> Any:
            marked = statement.replace("%s", "?") if isinstance(connection, sqlite3.Connection) else statement
            cursor.execute(marked, values)
            return cursor.fetchall() if cursor.description else None

        for statement in dialect.record:
            rows = run(statement, id)
        times, answer = rows[0]
        if times > 1:
            # The JavaScript library stores no answer for work without one.
            return None if answer is None else json.loads(answer)
        done = work()
        # PostgreSQL refuses it in a transaction whose error the work has ignored, and would roll back.
        if run(dialect.keep, json.dumps(done), id) == []:
            raise RuntimeError("once() needs a transaction, but the connection commits each statement.")
        return done
