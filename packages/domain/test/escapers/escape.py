"""Reads values as a JSON array, and prints for each one what Python makes of it, by the name of the escaper."""

import base64
import csv
import html
import io
import json
import quopri
import re
import shlex
import sys
import urllib.parse
from xml.sax import saxutils


def row(value: str) -> str:
    text = io.StringIO()
    csv.writer(text).writerow([value])
    return text.getvalue()


def escaped(value: str) -> dict[str, str]:
    data = value.encode()
    return {
        'html.escape': html.escape(value),
        'html.escape, twice': html.escape(html.escape(value)),
        'html.escape of json': html.escape(json.dumps(value)),
        'xmlcharrefreplace': html.escape(value).encode('ascii', 'xmlcharrefreplace').decode(),
        'saxutils.quoteattr': saxutils.quoteattr(value),
        'urllib.parse.quote': urllib.parse.quote(value),
        'urllib.parse.quote, all': urllib.parse.quote(value, safe=''),
        'urllib.parse.quote, twice': urllib.parse.quote(urllib.parse.quote(value)),
        'urllib.parse.quote_plus': urllib.parse.quote_plus(value),
        'json.dumps': json.dumps(value),
        'json.dumps, not ASCII': json.dumps(value, ensure_ascii=False),
        'json.dumps, twice': json.dumps(json.dumps(value)),
        'repr': repr(value),
        'ascii': ascii(value),
        'repr of bytes': repr(data),
        'unicode_escape': value.encode('unicode_escape').decode(),
        're.escape': re.escape(value),
        'shlex.quote': shlex.quote(value),
        'shlex.quote, twice': shlex.quote(shlex.quote(value)),
        'csv': row(value),
        'quopri': quopri.encodestring(data).decode(),
        'quopri, tabs': quopri.encodestring(data, quotetabs=True).decode(),
        'quopri of a header': quopri.encodestring(data, quotetabs=True, header=True).decode(),
        'base64': base64.b64encode(data).decode(),
        'base64, in lines': base64.encodebytes(b'key: ' + data * 2).decode(),
        'base64, for URLs': base64.urlsafe_b64encode(data).decode(),
        'base64 of json': base64.b64encode(json.dumps({'key': value}).encode()).decode(),
        'hex': data.hex(),
    }


for each in json.load(sys.stdin):
    print(json.dumps(escaped(each)))
