"""Where the server is."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Mapping, Optional, Tuple
from urllib.parse import unquote, urlsplit

from ._errors import InvalidOptions

API = "/api/v1"
_SOCKETS = ("unix://", "http+unix://")


@dataclass(frozen=True)
class Address:
    """A host and a port, or a socket of the file system; and what every path begins with."""

    host: str
    port: int
    is_tls: bool
    socket_path: Optional[str]
    base: str

    @property
    def host_header(self) -> str:
        if self.socket_path is not None:
            return "localhost"
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == (443 if self.is_tls else 80) else f"{host}:{self.port}"


def address_of(url: str) -> Address:
    """Reads ``http://…``, ``https://…``, ``unix:///path`` and ``http+unix://%2Fpath``; a trailing slash is dropped."""
    url = url.strip()
    for scheme in _SOCKETS:
        if url.lower().startswith(scheme):
            return Address("localhost", 0, False, _socket_path(url[len(scheme) :]), API)
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        raise InvalidOptions("the address of the server is not a URL") from None
    # What stands in an address is shown in logs: a password must not.
    if parts.username is not None or parts.password is not None:
        raise InvalidOptions("the address must not carry a password")
    if parts.scheme not in ("http", "https"):
        raise InvalidOptions("the address must begin with http://, https:// or unix://")
    if parts.query or parts.fragment:
        raise InvalidOptions("the address must not have a query")
    if not parts.hostname or any(ord(one) <= 32 or ord(one) == 127 for one in url):
        raise InvalidOptions("the address of the server is not a URL")
    is_tls = parts.scheme == "https"
    path = parts.path.rstrip("/")
    base = path if path.endswith(API) else path + API
    return Address(parts.hostname, port or (443 if is_tls else 80), is_tls, None, base)


def _socket_path(given: str) -> str:
    path = unquote(given).rstrip("/")
    if not path.startswith("/") or "\0" in path:
        raise InvalidOptions("the socket must be an absolute path")
    return path


def environment_of(given: Optional[Mapping[str, str]]) -> Tuple[str, str, Optional[str]]:
    """Address, token and agent id, as whoever started the agent has set them."""
    environment = os.environ if given is None else given

    def needed(name: str) -> str:
        value = environment.get(name, "").strip()
        if value == "":
            raise InvalidOptions(f"{name} is not set")
        return value

    agent_id = environment.get("PHASELOCK_AGENT_ID", "").strip()
    return needed("PHASELOCK_URL"), needed("PHASELOCK_TOKEN"), agent_id or None
