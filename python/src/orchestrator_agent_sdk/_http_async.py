"""One request over one connection, with asyncio."""

from __future__ import annotations

import asyncio
import re
import ssl
from typing import Any, Coroutine, Dict, Tuple, TypeVar

from ._address import Address
from ._connection import ANSWER_BYTES_MAX
from ._effects import Answer, NetworkFailure, Request
from ._errors import PhaselockError
from ._http_sync import CHUNK_BYTES, CONNECT_SECONDS_MAX, reason_of
from ._wire import body_of, headers_of

LINE_BYTES_MAX = 65536
HEADERS_MAX = 200
CHUNK_SIZE = re.compile("[0-9a-fA-F]{1,8}")
FAILURES = (OSError, EOFError, ValueError, asyncio.TimeoutError, asyncio.LimitOverrunError)

T = TypeVar("T")


async def within(work: Coroutine[Any, Any, T], seconds_max: float) -> T:
    """``asyncio.wait_for``, but a cancellation always arrives: before Python 3.12 one that came together with the
    result was lost, and whoever reads what never ends was read for ever."""
    task = asyncio.ensure_future(work)
    try:
        done, _ = await asyncio.wait({task}, timeout=seconds_max)
        if not done:
            raise asyncio.TimeoutError()
        return task.result()
    finally:
        if not task.done():
            task.add_done_callback(_looked_at)
            task.cancel()


def _looked_at(task: asyncio.Task[Any]) -> None:
    # An exception that nobody asks for is complained about.
    if not task.cancelled():
        task.exception()


class AsyncStream:
    """The answer to a request, as it comes in."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, silence_seconds_max: float) -> None:
        self.status = 0
        self.headers: Dict[str, str] = {}
        self._reader = reader
        self._writer = writer
        self._silence_seconds_max = silence_seconds_max
        self._left = -1
        self._is_chunked = False
        self._is_done = False

    async def begin(self) -> None:
        words = (await self._line()).split(" ", 2)
        if len(words) < 2 or not words[0].startswith("HTTP/1.") or not words[1].isdecimal():
            raise ValueError("the answer is not HTTP")
        self.status = int(words[1])
        for _ in range(HEADERS_MAX):
            line = await self._line()
            if line == "":
                break
            name, _, value = line.partition(":")
            self.headers[name.strip().lower()] = value.strip()
        else:
            raise ValueError("the answer has too many headers")
        self._is_chunked = self.headers.get("transfer-encoding", "").lower() == "chunked"
        length = self.headers.get("content-length", "")
        if not self._is_chunked and length.isdecimal():
            self._left = int(length)

    async def read(self) -> bytes:
        try:
            return await self._next()
        except FAILURES as error:
            raise NetworkFailure(reason_of(error)) from None

    def abandon(self) -> None:
        self._writer.close()

    async def _next(self) -> bytes:
        if self._is_done or self._left == 0 and not self._is_chunked:
            return b""
        if self._is_chunked and self._left <= 0:
            self._left = _chunk_size(await self._line())
            if self._left == 0:
                self._is_done = True
                return b""
        wanted = CHUNK_BYTES if self._left < 0 else min(CHUNK_BYTES, self._left)
        chunk = await within(self._reader.read(wanted), self._silence_seconds_max)
        if chunk == b"":
            # An end that was not announced is one that was cut off.
            if self._left > 0:
                raise EOFError("the answer was cut off")
            self._is_done = True
        if self._left > 0:
            self._left -= len(chunk)
            if self._is_chunked and self._left == 0:
                await self._line()
        return chunk

    async def _line(self) -> str:
        line = await within(self._reader.readuntil(b"\n"), self._silence_seconds_max)
        return line.decode("latin-1").rstrip("\r\n")


def _chunk_size(line: str) -> int:
    size = line.split(";")[0].strip()
    if CHUNK_SIZE.fullmatch(size) is None:
        raise ValueError("the answer is not HTTP")
    return int(size, 16)


class AsyncTransport:
    def __init__(self, address: Address) -> None:
        self._address = address

    async def send(self, request: Request, seconds_max: float) -> Answer:
        try:
            return await within(self._sent(request, seconds_max), seconds_max)
        except asyncio.TimeoutError:
            raise NetworkFailure("the answer took too long") from None

    async def _sent(self, request: Request, seconds_max: float) -> Answer:
        stream = await self.open(request, seconds_max)
        try:
            body = bytearray()
            while True:
                chunk = await stream.read()
                if chunk == b"":
                    return Answer(stream.status, stream.headers, bytes(body))
                body += chunk
                if len(body) > ANSWER_BYTES_MAX:
                    raise PhaselockError(f"the answer is larger than {ANSWER_BYTES_MAX} bytes")
        finally:
            stream.abandon()

    async def open(self, request: Request, silence_seconds_max: float) -> AsyncStream:
        head = self._head(request)
        try:
            reader, writer = await within(self._connect(), CONNECT_SECONDS_MAX)
        except FAILURES as error:
            raise NetworkFailure(reason_of(error)) from None
        stream = AsyncStream(reader, writer, silence_seconds_max)
        try:
            writer.write(head)
            await within(writer.drain(), silence_seconds_max)
            await stream.begin()
            return stream
        except FAILURES as error:
            stream.abandon()
            raise NetworkFailure(reason_of(error)) from None
        except BaseException:
            stream.abandon()
            raise

    def _head(self, request: Request) -> bytes:
        body = body_of(request)
        headers = {**headers_of(request), "host": self._address.host_header}
        if body is not None:
            headers["content-length"] = str(len(body))
        lines = [f"{request.method} {self._address.base}{request.path} HTTP/1.1"]
        lines += [f"{name}: {value}" for name, value in headers.items()]
        return ("\r\n".join(lines) + "\r\n\r\n").encode("ascii") + (body or b"")

    async def _connect(self) -> Tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        address = self._address
        if address.socket_path is not None:
            return await asyncio.open_unix_connection(address.socket_path, limit=LINE_BYTES_MAX)
        context = ssl.create_default_context() if address.is_tls else None
        return await asyncio.open_connection(address.host, address.port, ssl=context, limit=LINE_BYTES_MAX)
