"""An order and its reminder, in one transaction of Django."""

import json

from django.db import connection, transaction

CALL_AT = """
    SELECT belfry.call_at('https://example.com/hooks/remind', now() + interval '3 days', %s::jsonb, %s::jsonb)
"""


def place_order(order: int) -> None:
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("INSERT INTO orders (id) VALUES (%s)", [order])  # or Order.objects.create(...)
        cursor.execute(CALL_AT, [json.dumps({"order": order}), json.dumps({"key": f"remind:{order}"})])
