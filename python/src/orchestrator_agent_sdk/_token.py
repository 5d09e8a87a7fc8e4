"""Tokens: kept out of sight, and read only to know when to renew."""

from __future__ import annotations

import base64
import re
from typing import Any

from ._errors import InvalidOptions, JsonObject
from ._json import parsed

_TOKEN = re.compile(r"[\x21-\x7e]{1,8192}")


class Secret:
    """A token. Nothing that prints, formats or inspects it shows it."""

    __slots__ = ("__value",)

    def __init__(self, value: Any) -> None:
        if not isinstance(value, str) or value == "":
            raise InvalidOptions("a token is needed")
        if _TOKEN.fullmatch(value) is None:
            raise InvalidOptions("the token contains characters that are not allowed")
        self.__value = value

    def reveal(self) -> str:
        return self.__value

    def __repr__(self) -> str:
        return "[token]"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Secret) and other.reveal() == self.__value

    def __hash__(self) -> int:
        return hash(self.__value)

    def __reduce__(self) -> Any:
        raise TypeError("a token is not copied into files")


def claims_in(token: Secret) -> JsonObject:
    """What a token says of itself. It is not verified: it is only for knowing when to renew, never for deciding."""
    try:
        payload = token.reveal().split(".")[1]
        claims = parsed(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)).decode("utf-8"))
    except (IndexError, ValueError):
        return {}
    return claims if isinstance(claims, dict) else {}
