"""Keeps the newest phase token, renews it, and forgets it with the task."""

from __future__ import annotations

import threading
import time
import uuid
from dataclasses import dataclass
from typing import List, Optional

from ._connection import Connection
from ._effects import Flow, Request
from ._errors import ApiError, JsonObject, NotClaimed, PhaselockError, TokenRefused, texts_of
from ._token import Secret, claims_in

# The part of its life after which a token is renewed.
RENEW_AFTER = 0.8


@dataclass(frozen=True)
class Held:
    """The task that the client works on, and the token for the phase that it is in."""

    task_id: str
    phase: str
    epoch: int
    allowed_tools: List[str]
    token: Secret
    #: On the monotonic clock: the clocks of server and client need not agree.
    renew_at: float


class Session:
    def __init__(self, connection: Connection, agent_token: Secret) -> None:
        self._connection = connection
        self._agent_token = agent_token
        self._lock = threading.Lock()
        self.held: Optional[Held] = None
        #: When the program last asked for something.
        self.used_at = 0.0

    def require(self) -> Held:
        held = self.held
        if held is None:
            raise NotClaimed()
        return held

    def call_as_agent(self, method: str, path: str, body: Optional[JsonObject] = None) -> Flow[JsonObject]:
        """A call with the agent's own token, whatever it holds."""
        self.used_at = time.monotonic()
        answer = yield from self._connection.call(_request(method, path, body, self._agent_token))
        return self._take(answer)

    def call(self, method: str, path: str, body: Optional[JsonObject] = None) -> Flow[JsonObject]:
        """A call about the task at hand. What the answer says of token and phase is kept."""
        self.require()
        self.used_at = time.monotonic()
        yield from self.renew_if_due()
        request = _request(method, path, body, self.require().token)
        try:
            answer = yield from self._connection.call(request)
        except TokenRefused as refused:
            if refused.code != "token_invalid":
                raise
            # It expired unnoticed: the machine slept, or the server was away. The key stays: nothing happens twice.
            renewed = yield from self._renew_as_agent(refused)
            again = Request(method, path, renewed.token, body, request.key)
            answer = yield from self._connection.call(again)
        return self._take(answer)

    def renew_if_due(self) -> Flow[bool]:
        """Renews the token when most of its life is over. A failure is told by the call that needs the token."""
        held = self.held
        if held is None or time.monotonic() < held.renew_at:
            return False
        try:
            request = _request("POST", "/tokens/renew", {"task_id": held.task_id}, held.token)
            self._take((yield from self._connection.call(request)))
        except PhaselockError:
            return True
        return True

    def forget(self) -> None:
        self.held = None

    # The agent token stands for whatever its agent holds now. Only a token for the same task and epoch replaces the one
    # that expired: a task that moved on, or was given to somebody else, is not taken up again in silence.
    def _renew_as_agent(self, refused: TokenRefused) -> Flow[Held]:
        held = self.require()
        request = _request("POST", "/tokens/renew", {"task_id": held.task_id}, self._agent_token)
        try:
            answer = yield from self._connection.call(request)
        except ApiError as error:
            raise refused if error.code == "token_invalid" else error from None
        renewed = _held_of(answer)
        if renewed is None or renewed.task_id != held.task_id or renewed.epoch != held.epoch:
            problem = {
                "code": "token_stale",
                "detail": f"The token expired, and task {held.task_id} has moved on since.",
                "remedy": "Claim the task again to go on with it.",
            }
            raise TokenRefused(403, problem) from None
        self._keep(renewed)
        return renewed

    # Tokens stay inside: what is handed out can be logged.
    def _take(self, answer: JsonObject) -> JsonObject:
        held = _held_of(answer)
        if held is not None:
            self._keep(held)
        elif _is_over(answer):
            self.held = None
        return _without_tokens(answer)

    def _keep(self, held: Held) -> None:
        self._connection.hide(held.token)
        with self._lock:
            before = self.held
            # Answers can overtake each other; the newest epoch counts.
            if before is None or before.task_id != held.task_id or held.epoch >= before.epoch:
                self.held = held


def _request(method: str, path: str, body: Optional[JsonObject], token: Secret) -> Request:
    return Request(method, path, token, body, None if method == "GET" else str(uuid.uuid4()))


def _held_of(answer: JsonObject) -> Optional[Held]:
    text = answer.get("phase_token")
    if not isinstance(text, str):
        return None
    token = Secret(text)
    claims = claims_in(token)
    issued, expires = claims.get("iat"), claims.get("exp")
    life = expires - issued if isinstance(issued, (int, float)) and isinstance(expires, (int, float)) else float("inf")
    epoch = claims.get("epoch")
    return Held(
        task_id=str(claims.get("task_id", "")),
        phase=str(claims.get("phase", answer.get("phase", ""))),
        epoch=epoch if isinstance(epoch, int) else 0,
        allowed_tools=texts_of(answer.get("allowed_tools")),
        token=token,
        renew_at=time.monotonic() + life * RENEW_AFTER,
    )


def _is_over(answer: JsonObject) -> bool:
    if answer.get("completed") is True or answer.get("workflow_complete") is True:
        return True
    advanced = answer.get("advanced")
    return isinstance(advanced, dict) and advanced.get("status") == "completed"


def _without_tokens(answer: JsonObject) -> JsonObject:
    rest = {name: value for name, value in answer.items() if name != "phase_token"}
    advanced = rest.get("advanced")
    if isinstance(advanced, dict):
        rest["advanced"] = {name: value for name, value in advanced.items() if name != "phase_token"}
    return rest
