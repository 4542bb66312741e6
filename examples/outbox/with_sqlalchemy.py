"""An order and its reminder, in one transaction of SQLAlchemy."""

import json

from sqlalchemy import text
from sqlalchemy.orm import Session

CALL_AT = text("""
    SELECT belfry.call_at('https://example.com/hooks/remind', now() + interval '3 days',
                          CAST(:payload AS jsonb), CAST(:options AS jsonb))
""")


def place_order(session: Session, order: int) -> None:
    with session.begin():
        session.execute(text("INSERT INTO orders (id) VALUES (:id)"), {"id": order})  # or session.add(...)
        options = {"key": f"remind:{order}"}
        session.execute(CALL_AT, {"payload": json.dumps({"order": order}), "options": json.dumps(options)})
