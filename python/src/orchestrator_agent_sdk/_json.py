"""What the server says, read without trusting it."""

from __future__ import annotations

import json
from typing import Any


def parsed(text: str) -> Any:
    """What a text says as JSON. Raises ``ValueError`` when it says nothing, also where it is nested too deeply."""
    try:
        return json.loads(text, parse_constant=_refused)
    except RecursionError:
        raise ValueError("nested too deeply") from None


def _refused(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")
