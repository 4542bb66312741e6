"""Makes the synchronous client from the asynchronous one: `python scripts/generate_sync.py [--check]`."""

import re
import sys
from pathlib import Path

source = Path(__file__).parent.parent / "src/belfry/_async_client.py"
target = source.with_name("_sync_client.py")

replacements = [
    (r'^""".*?"""', '"""The synchronous client. `scripts/generate_sync.py` makes this file from `_async_client.py`."""'),
    (r"import asyncio\nimport os\n", "import os\nimport time\n"),
    (r"asyncio\.sleep", "time.sleep"),
    (r"An asynchronous client", "A client"),
    (r"\basync (def|with|for)\b", r"\1"),
    (r"\bawait ", ""),
    (r"__aiter__", "__iter__"),
    (r"__aenter__", "__enter__"),
    (r"__aexit__", "__exit__"),
    (r"\baclose\b", "close"),
    (r"\bAsyncIterator\b", "Iterator"),
    (r"httpx\.AsyncBaseTransport", "httpx.BaseTransport"),
    (r"httpx\.AsyncClient", "httpx.Client"),
    (r"\b(_?)Async([A-Z])", r"\1\2"),
]


def generate() -> str:
    text = source.read_text()
    for pattern, replacement in replacements:
        text = re.sub(pattern, replacement, text, flags=re.S)
    return text


if __name__ == "__main__":
    if "--check" in sys.argv:
        sys.exit(target.read_text() != generate() and "_sync_client.py is out of date: run scripts/generate_sync.py")
    target.write_text(generate())
