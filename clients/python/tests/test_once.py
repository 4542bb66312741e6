import os
import re
import sqlite3
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from belfry_client.once import MYSQL, POSTGRES, SQLITE, Dialect, once

Transaction = Callable[[], AbstractContextManager[Any]]


@dataclass
class Library:
    """A library for a database, and how it opens a transaction."""

    transaction: Transaction
    dialect: Dialect

    def execute(self, connection: Any, statement: str) -> list[Any]:
        with closing(connection.cursor()) as cursor:
            cursor.execute(statement)
            return list(cursor.fetchall()) if cursor.description else []

    def receive(self, id: str, number: int = 1, fails: bool = False) -> Any:
        with self.transaction() as connection:

            def work() -> dict[str, int]:
                self.execute(connection, f"INSERT INTO effects VALUES ('{id}', {number})")
                if fails:
                    raise ValueError("The work failed.")
                return {"number": number}

            return once(connection, id, work, self.dialect)

    def effects(self, id: str) -> list[int]:
        with self.transaction() as connection:
            return [row[0] for row in self.execute(connection, f"SELECT number FROM effects WHERE id = '{id}'")]


def url_of(name: str) -> str:
    url = os.environ.get(name)
    if not url:
        pytest.skip(f"needs {name}")
    return url


def open_sqlite(folder: Path) -> Library:
    @contextmanager
    def transaction() -> Iterator[sqlite3.Connection]:
        with closing(sqlite3.connect(folder / "test.db", timeout=30)) as connection, connection:
            yield connection

    return Library(transaction, SQLITE)


def open_psycopg(_folder: Path) -> Library:
    import psycopg

    url = url_of("POSTGRES_URL")
    return Library(lambda: psycopg.connect(url), POSTGRES)


def open_sqlalchemy(_folder: Path) -> Library:
    from sqlalchemy import create_engine
    from sqlalchemy.orm import Session

    engine = create_engine(url_of("POSTGRES_URL").replace("postgresql:", "postgresql+psycopg:"), pool_size=20)

    @contextmanager
    def transaction() -> Iterator[Any]:
        with Session(engine) as session, session.begin():
            yield session.connection().connection.driver_connection

    return Library(transaction, POSTGRES)


def open_django(_folder: Path) -> Library:
    import django
    from django.conf import settings

    url_of("POSTGRES_URL")
    if not settings.configured:
        import psycopg

        parts = psycopg.conninfo.conninfo_to_dict(url_of("POSTGRES_URL"))
        names = {"NAME": "dbname", "USER": "user", "PASSWORD": "password", "HOST": "host", "PORT": "port"}
        database = {name: parts.get(part, "") for name, part in names.items()}
        settings.configure(DATABASES={"default": {"ENGINE": "django.db.backends.postgresql", **database}})
        django.setup()
    from django.db import connection, transaction

    @contextmanager
    def atomic() -> Iterator[Any]:
        with transaction.atomic():
            yield connection

    return Library(atomic, POSTGRES)


def open_pymysql(_folder: Path) -> Library:
    from urllib.parse import urlsplit

    import pymysql

    url = urlsplit(url_of("MYSQL_URL"))

    @contextmanager
    def transaction() -> Iterator[Any]:
        where = {"host": url.hostname, "port": url.port, "user": url.username, "database": url.path[1:]}
        with pymysql.connect(**where) as connection:  # rolls back what is not committed
            yield connection
            connection.commit()

    return Library(transaction, MYSQL)


@pytest.fixture(params=[open_sqlite, open_psycopg, open_sqlalchemy, open_django, open_pymysql])
def library(request: pytest.FixtureRequest, tmp_path: Path) -> Library:
    opened: Library = request.param(tmp_path)
    with opened.transaction() as connection:
        opened.execute(connection, "CREATE TABLE IF NOT EXISTS effects (id varchar(255), number integer)")
        opened.execute(connection, opened.dialect.create_table)
    return opened


def test_has_one_effect_for_ten_requests_at_once(library: Library) -> None:
    id = str(uuid4())
    with ThreadPoolExecutor(10) as pool:
        answers = list(pool.map(lambda number: library.receive(id, number), range(10)))
    [number] = library.effects(id)
    assert answers == [{"number": number}] * 10


def test_leaves_no_effect_of_work_that_failed_and_does_it_with_the_next_request(library: Library) -> None:
    id = str(uuid4())
    with pytest.raises(ValueError, match="The work failed."):
        library.receive(id, fails=True)
    assert library.effects(id) == []
    library.receive(id)
    library.receive(id, 2)
    assert library.effects(id) == [1]


def test_reads_what_the_javascript_library_stores_of_work_without_an_answer(library: Library) -> None:
    library.receive(id := str(uuid4()))
    with library.transaction() as connection:
        library.execute(connection, "UPDATE received_webhooks SET answer = NULL")
    assert library.receive(id) is None


def test_deletes_old_ids(library: Library) -> None:
    library.receive(id := str(uuid4()))
    with library.transaction() as connection:
        library.execute(connection, library.dialect.delete_older_than.format(days=1))
    library.receive(id)
    assert len(library.effects(id)) == 1
    with library.transaction() as connection:
        library.execute(connection, "UPDATE received_webhooks SET received_at = '2026-01-01 00:00:00'")
        library.execute(connection, library.dialect.delete_older_than.format(days=1))
    library.receive(id)
    assert len(library.effects(id)) == 2


def test_refuses_a_connection_that_commits_each_statement() -> None:
    import psycopg

    with psycopg.connect(url_of("POSTGRES_URL"), autocommit=True) as connection:
        connection.execute(POSTGRES.create_table)
        with pytest.raises(RuntimeError, match="commits each statement"):
            once(connection, str(uuid4()), lambda: None)


def test_the_program_of_the_readme() -> None:
    readme = (Path(__file__).parent.parent / "README.md").read_text()
    [program] = [block for block in re.findall(r"```python\n(.*?)```", readme, re.S) if "import SQLITE" in block]
    names: dict[str, Any] = {}
    exec(program, names)
    connection = sqlite3.connect(":memory:")
    connection.executescript(f"CREATE TABLE orders (id integer, paid integer); {SQLITE.create_table}")
    connection.executescript("INSERT INTO orders VALUES (42, 0), (43, 0)")
    for order in (42, 43):
        names["pay"](connection, "task_1", order)
    assert connection.execute("SELECT id FROM orders WHERE paid = 1").fetchall() == [(42,)]
