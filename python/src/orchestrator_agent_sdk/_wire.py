"""Requests as bytes, for both ways of sending them."""

from __future__ import annotations

import json
from typing import Dict, Optional

from ._effects import Request


def headers_of(request: Request) -> Dict[str, str]:
    headers = {"authorization": f"Bearer {request.token.reveal()}", "accept": "application/json"}
    if request.body is not None:
        headers["content-type"] = "application/json"
    if request.key is not None:
        headers["idempotency-key"] = request.key
    return {**headers, **request.headers, "connection": "close"}


def body_of(request: Request) -> Optional[bytes]:
    return None if request.body is None else json.dumps(request.body, allow_nan=False).encode("ascii")
