"""The events of a task, each once and in order, across lost connections and restarts of the server."""

from __future__ import annotations

import re
import time
from dataclasses import dataclass
from typing import Any, Iterator, List, Tuple

from ._connection import WORKING_SECONDS, Connection, back_off, is_passing
from ._effects import Emit, Flow, NetworkFailure, Open, Pause, Read, Request
from ._errors import JsonObject, PhaselockError, Unreachable, api_error
from ._json import parsed
from ._token import Secret

# The server says something at least every 15 seconds.
SILENCE_SECONDS_MAX = 45.0
PENDING_BYTES_MAX = 16 * 1024 * 1024
EVENT_ID = re.compile(r"[0-9]{1,15}")
# After these the agent holds the task no more: there is nothing left to follow.
LAST = frozenset(["task_completed", "task_released", "task_cancelled", "task_reassigned", "lease_lapsed"])


@dataclass(frozen=True)
class TaskEvent:
    """One event of the task, as the ledger has it. Larger ids came later."""

    id: int
    type: str
    data: JsonObject


class FrameReader:
    """Takes server-sent events out of a stream as it comes in. Comments are dropped."""

    def __init__(self) -> None:
        self._pending = b""

    def take(self, chunk: bytes) -> List[Tuple[str, str, str]]:
        parts = (self._pending + chunk).split(b"\n\n")
        self._pending = parts.pop()
        if len(self._pending) > PENDING_BYTES_MAX:
            raise PhaselockError("an event is too large")
        frames = [_frame(part.decode("utf-8", "replace")) for part in parts]
        return [frame for frame in frames if frame[2] != ""]


def _frame(block: str) -> Tuple[str, str, str]:
    fields = {"id": "", "event": "", "data": ""}
    for line in block.split("\n"):
        name, colon, value = line.rstrip("\r").partition(":")
        value = value[1:] if value.startswith(" ") else value
        if colon and name == "data":
            fields["data"] = value if fields["data"] == "" else f"{fields['data']}\n{value}"
        elif colon and name in fields:
            fields[name] = value
    return fields["id"], fields["event"], fields["data"]


def follow(connection: Connection, token: Secret, task_id: str, after: int) -> Flow[None]:
    last = after
    failures = 0
    while not connection.is_closed:
        opened = time.monotonic()
        reason = "the stream of events was cut off"
        try:
            stream = yield from _opened(connection, token, last)
            try:
                reader = FrameReader()
                while True:
                    chunk: bytes = yield Read(stream)
                    if chunk == b"":
                        break
                    for event in _events_in(reader, chunk, task_id):
                        # What is known already is no progress: a stream that brings nothing else must end.
                        if event.id <= last:
                            continue
                        failures = 0
                        last = event.id
                        yield Emit(event)
                        if event.type in LAST:
                            return
            finally:
                stream.abandon()
        except (NetworkFailure, PhaselockError) as error:
            if connection.is_closed:
                return
            if not isinstance(error, (NetworkFailure, Unreachable)):
                raise
            reason = connection.hidden(error.reason)
        if connection.is_closed:
            return
        # A stream that lasted was no failure, however quiet the task was.
        failures = 1 if time.monotonic() - opened > WORKING_SECONDS else failures + 1
        if failures >= connection.limits.attempts_max:
            raise Unreachable(failures, reason)
        try:
            yield Pause(back_off(failures))
        except PhaselockError:
            # Only closing the client ends a pause early, and ends the stream with it.
            return


def _opened(connection: Connection, token: Secret, last: int) -> Flow[Any]:
    connection.check_open()
    headers = {"accept": "text/event-stream", "last-event-id": str(last)}
    stream = yield Open(Request("GET", "/events", token, headers=headers), SILENCE_SECONDS_MAX)
    if stream.status == 200:
        return stream
    body = b""
    try:
        while len(body) < PENDING_BYTES_MAX:
            chunk: bytes = yield Read(stream)
            if chunk == b"":
                break
            body += chunk
    finally:
        stream.abandon()
    problem = connection.problem_in(body)
    error = api_error(stream.status, problem)
    raise Unreachable(1, str(error)) if is_passing(stream.status, problem) else error


def _events_in(reader: FrameReader, chunk: bytes, task_id: str) -> Iterator[TaskEvent]:
    for number, kind, text in reader.take(chunk):
        try:
            data = parsed(text)
        except ValueError:
            raise _unreadable() from None
        # The token stands for whatever the agent holds: events of a later task are not this one's.
        if not isinstance(data, dict) or data.get("stream") != f"task:{task_id}":
            continue
        if EVENT_ID.fullmatch(number) is None:
            raise _unreadable()
        yield TaskEvent(int(number), kind, data)


def _unreadable() -> PhaselockError:
    """Going on without it would lose it, and without its number nobody could say where to go on."""
    return api_error(200, {"detail": "An event of the stream cannot be read."})
