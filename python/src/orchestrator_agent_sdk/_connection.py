"""Sends calls until they are answered: bounded, with growing pauses, and with one key each."""

from __future__ import annotations

import random
import re
import time
from dataclasses import dataclass
from typing import Callable, Dict, List, Optional, Tuple

from ._effects import Answer, Flow, NetworkFailure, Pause, Request, Send
from ._errors import JsonObject, PhaselockError, Unreachable, api_error
from ._json import parsed
from ._token import Secret

WAIT_SECONDS_FIRST = 0.2
WAIT_SECONDS_MAX = 10.0
RETRY_AFTER_SECONDS_MAX = 60.0
SECONDS = re.compile(r"[0-9]{1,9}(\.[0-9]{1,9})?")
# An attempt that was broken off after so long was being worked on: it is no sign that the server is gone.
WORKING_SECONDS = 20.0
ATTEMPT_SECONDS_MAX = 660.0
ANSWER_BYTES_MAX = 64 * 1024 * 1024
SECRETS_MAX = 20
RETRIED = frozenset([429, 502, 503, 504])
# Nothing that passes by itself.
LASTING = frozenset(["confinement_unavailable", "knowledge_unavailable"])


@dataclass(frozen=True)
class Limits:
    #: How many quick failures in a row end a call.
    attempts_max: int
    #: How long a call may take in all.
    call_seconds_max: float


# The answer; else how long the server asks to wait, if it does, and what is raised when nothing more is tried.
Outcome = Tuple[Optional[JsonObject], Optional[float], Callable[[int], Exception]]


class Connection:
    def __init__(self, limits: Limits, first: Secret) -> None:
        self.limits = limits
        self.is_closed = False
        self._secrets: List[Secret] = [first]

    def hide(self, token: Secret) -> None:
        """From now on the token is taken out of whatever the server or the machine says about a failure."""
        if token not in self._secrets:
            self._secrets.append(token)
        if len(self._secrets) > SECRETS_MAX:
            del self._secrets[1]

    def check_open(self) -> None:
        if self.is_closed:
            raise PhaselockError("the client is closed")

    def call(self, request: Request) -> Flow[JsonObject]:
        """The answer to a call. Raises what the server refuses it with, or that it cannot be reached."""
        began = time.monotonic()
        failures = 0
        attempts = 0
        while True:
            self.check_open()
            attempts += 1
            started = time.monotonic()
            answer, wait, error = yield from self._attempt(request)
            if answer is not None:
                return answer
            failures = 1 if time.monotonic() - started > WORKING_SECONDS else failures + 1
            seconds = back_off(failures) if wait is None else wait
            is_late = time.monotonic() - began + seconds > self.limits.call_seconds_max
            if failures >= self.limits.attempts_max or is_late:
                raise error(attempts)
            yield Pause(seconds)

    def _attempt(self, request: Request) -> Flow[Outcome]:
        try:
            received: Answer = yield Send(request, min(ATTEMPT_SECONDS_MAX, self.limits.call_seconds_max))
        except NetworkFailure as failure:
            self.check_open()
            reason = self.hidden(failure.reason)
            return None, None, lambda attempts: Unreachable(attempts, reason)
        # No answer of the server is empty: an end in the middle of the headers looks like this.
        if received.body == b"":
            return None, None, lambda attempts: Unreachable(attempts, "the answer was cut off")
        if 200 <= received.status < 300:
            return answer_of(received), None, lambda attempts: Unreachable(attempts, "")
        problem = self.problem_in(received.body)
        if not is_passing(received.status, problem):
            raise api_error(received.status, problem)
        return None, retry_after(received.headers), lambda _attempts: api_error(received.status, problem)

    def problem_in(self, body: bytes) -> JsonObject:
        return object_in(self.hidden(body.decode("utf-8", "replace"))) or {}

    def hidden(self, text: str) -> str:
        for secret in self._secrets:
            text = text.replace(secret.reveal(), "[token]")
        return text


def back_off(failures: int) -> float:
    """Doubles, up to a maximum, with chance in it so that many clients do not come back at once."""
    seconds = min(WAIT_SECONDS_MAX, WAIT_SECONDS_FIRST * 2 ** min(failures - 1, 20))
    return float(seconds * (0.5 + random.random() / 2))


def is_passing(status: int, problem: JsonObject) -> bool:
    return status in RETRIED and problem.get("code") not in LASTING


def retry_after(headers: Dict[str, str]) -> Optional[float]:
    said = headers.get("retry-after", "").strip()
    # A date is not read: the clocks of server and client need not agree.
    return min(float(said), RETRY_AFTER_SECONDS_MAX) if SECONDS.fullmatch(said) else None


def answer_of(received: Answer) -> JsonObject:
    answer = object_in(received.body.decode("utf-8", "replace"))
    if answer is None:
        raise api_error(received.status, {"detail": "The answer is not JSON: is this a Phaselock server?"})
    return answer


def object_in(text: str) -> Optional[JsonObject]:
    try:
        found = parsed(text)
    except ValueError:
        return None
    return found if isinstance(found, dict) else None
