"""Schedules each call of a file twice: with its payload as text, and as a value. Environment: BELFRY_URL, BELFRY_API_KEY."""

import json
import sys
from datetime import datetime
from pathlib import Path

from belfry_client import Belfry, JsonText
from belfry_client._json import parse_json

with Belfry() as belfry:
    for text, value in json.loads(Path(sys.argv[1]).read_text("utf-8")):
        belfry.tasks.create(
            target_url=text["url"],
            payload=JsonText(text["payload"]),
            headers=text["headers"],
            execute_at=text["spelt"],
        )
        belfry.tasks.create(
            target_url=value["url"],
            payload=parse_json(value["payload"]),
            headers=value["headers"],
            execute_at=datetime.fromisoformat(value["at"].replace("Z", "+00:00")),
        )
