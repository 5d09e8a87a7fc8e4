"""One request over one connection, without asyncio."""

from __future__ import annotations

import http.client
import socket
import ssl
import threading
from typing import Callable, Dict, Set

from ._address import Address
from ._connection import ANSWER_BYTES_MAX
from ._effects import Answer, NetworkFailure, Request
from ._errors import PhaselockError
from ._wire import body_of, headers_of

CONNECT_SECONDS_MAX = 10.0
CHUNK_BYTES = 65536
FAILURES = (OSError, http.client.HTTPException)


class _SocketConnection(http.client.HTTPConnection):
    def __init__(self, path: str) -> None:
        super().__init__("localhost")
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(CONNECT_SECONDS_MAX)
        self.sock.connect(self._path)


class SyncStream:
    def __init__(self, response: http.client.HTTPResponse, drop: Callable[[], None]) -> None:
        self.status = response.status
        self.headers: Dict[str, str] = {name.lower(): value for name, value in response.getheaders()}
        self._response = response
        self._drop = drop

    def read(self) -> bytes:
        try:
            return self._response.read1(CHUNK_BYTES)
        except FAILURES as error:
            raise NetworkFailure(reason_of(error)) from None

    def abandon(self) -> None:
        self._drop()
        self._response.close()


class SyncTransport:
    def __init__(self, address: Address) -> None:
        self._address = address
        self._open: Set[http.client.HTTPConnection] = set()
        self._lock = threading.Lock()

    def send(self, request: Request, seconds_max: float) -> Answer:
        stream = self.open(request, seconds_max)
        try:
            said = stream.headers.get("content-length", "")
            length = int(said) if said.isdigit() else None
            body = bytearray()
            while length is None or len(body) < length:
                chunk = stream.read()
                if chunk == b"":
                    break
                body += chunk
                if len(body) > ANSWER_BYTES_MAX:
                    raise PhaselockError(f"the answer is larger than {ANSWER_BYTES_MAX} bytes")
            # Without this an answer that was cut off would pass for a whole one.
            if length is not None and len(body) != length:
                raise NetworkFailure("the answer was cut off")
            return Answer(stream.status, stream.headers, bytes(body))
        finally:
            stream.abandon()

    def open(self, request: Request, silence_seconds_max: float) -> SyncStream:
        body = body_of(request)
        connection = self._connection()
        with self._lock:
            self._open.add(connection)
        try:
            connection.connect()
            connection.sock.settimeout(silence_seconds_max)
            headers = {**headers_of(request), "host": self._address.host_header}
            connection.request(request.method, self._address.base + request.path, body, headers)
            return SyncStream(connection.getresponse(), lambda: self._drop(connection))
        except FAILURES as error:
            self._drop(connection)
            raise NetworkFailure(reason_of(error)) from None
        except BaseException:
            self._drop(connection)
            raise

    def close(self) -> None:
        """Whoever waits for an answer waits no longer."""
        with self._lock:
            waiting = list(self._open)
        for connection in waiting:
            sock = connection.sock
            if sock is not None:
                try:
                    sock.shutdown(socket.SHUT_RDWR)
                except OSError:
                    continue

    def _drop(self, connection: http.client.HTTPConnection) -> None:
        with self._lock:
            self._open.discard(connection)
        connection.close()

    def _connection(self) -> http.client.HTTPConnection:
        address = self._address
        if address.socket_path is not None:
            return _SocketConnection(address.socket_path)
        if address.is_tls:
            context = ssl.create_default_context()
            return http.client.HTTPSConnection(address.host, address.port, timeout=CONNECT_SECONDS_MAX, context=context)
        return http.client.HTTPConnection(address.host, address.port, timeout=CONNECT_SECONDS_MAX)


def reason_of(error: BaseException) -> str:
    return str(error) or type(error).__name__
