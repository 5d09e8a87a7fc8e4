"""One request over one connection, without asyncio."""

from __future__ import annotations

import http.client
import socket
import ssl
import threading
import time
from typing import Callable, Dict, Set

from ._address import Address
from ._connection import ANSWER_BYTES_MAX
from ._effects import Answer, NetworkFailure, Request
from ._errors import PhaselockError
from ._wire import body_of, headers_of

CONNECT_SECONDS_MAX = 10.0
CHUNK_BYTES = 65536
# Python itself counts no further than some thousands of digits, and raises.
LENGTH_DIGITS_MAX = 15
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
    def __init__(self, response: http.client.HTTPResponse, sock: socket.socket, drop: Callable[[], None]) -> None:
        self.status = response.status
        self.headers: Dict[str, str] = {name.lower(): value for name, value in response.getheaders()}
        self._response = response
        self._sock = sock
        self._drop = drop

    def read(self) -> bytes:
        try:
            return self._response.read1(CHUNK_BYTES)
        except FAILURES as error:
            raise NetworkFailure(reason_of(error)) from None

    def read_until(self, deadline: float) -> bytes:
        left = deadline - time.monotonic()
        if left <= 0:
            raise NetworkFailure("the answer took too long")
        self._sock.settimeout(left)
        return self.read()

    def abandon(self) -> None:
        self._drop()
        self._response.close()


class SyncTransport:
    def __init__(self, address: Address) -> None:
        self._address = address
        self._open: Set[socket.socket] = set()
        self._is_closed = False
        self._lock = threading.Lock()

    def send(self, request: Request, seconds_max: float) -> Answer:
        deadline = time.monotonic() + seconds_max
        stream = self.open(request, seconds_max)
        try:
            said = stream.headers.get("content-length", "")
            length = int(said) if said.isdecimal() and len(said) <= LENGTH_DIGITS_MAX else None
            body = bytearray()
            while length is None or len(body) < length:
                chunk = stream.read_until(deadline)
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
        try:
            connection.connect()
            # The connection forgets its socket as soon as the answer begins; whoever closes the client needs it.
            sock: socket.socket = connection.sock
            self._keep(sock)
        except FAILURES as error:
            connection.close()
            raise NetworkFailure(reason_of(error)) from None
        try:
            sock.settimeout(silence_seconds_max)
            headers = {**headers_of(request), "host": self._address.host_header}
            connection.request(request.method, self._address.base + request.path, body, headers)
            return SyncStream(connection.getresponse(), sock, lambda: self._drop(connection, sock))
        except FAILURES as error:
            self._drop(connection, sock)
            raise NetworkFailure(reason_of(error)) from None
        except BaseException:
            self._drop(connection, sock)
            raise

    def close(self) -> None:
        """Whoever waits for an answer waits no longer."""
        with self._lock:
            self._is_closed = True
            waiting = list(self._open)
        for sock in waiting:
            try:
                sock.shutdown(socket.SHUT_RDWR)
            except OSError:
                continue

    def _keep(self, sock: socket.socket) -> None:
        with self._lock:
            if self._is_closed:
                raise OSError("the client is closed")
            self._open.add(sock)

    def _drop(self, connection: http.client.HTTPConnection, sock: socket.socket) -> None:
        with self._lock:
            self._open.discard(sock)
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
