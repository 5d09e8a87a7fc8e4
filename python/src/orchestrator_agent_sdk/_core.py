"""What the client does, written once for both ways of waiting."""

from __future__ import annotations

import time
import uuid
from datetime import datetime
from typing import Any, Dict, List, Mapping, Optional, Sequence, Union, cast
from urllib.parse import quote

from ._address import address_of
from ._connection import Connection, Limits
from ._effects import Flow, Pause, Request
from ._errors import ApiError, JsonObject, PhaselockError, TransitionBlocked, WaitTimeout, tool_error
from ._follow import follow
from ._session import Session
from ._token import Secret, claims_in
from .types import (
    ApprovalAnswer,
    BatchAnswer,
    ClaimAnswer,
    CompletionAnswer,
    CouncilView,
    KnowledgeAnswer,
    PhaseAnswer,
    PromptAnswer,
    ReleaseAnswer,
    ResponseAnswer,
    StateSnapshot,
    ToolAnswer,
    ToolCheck,
    TransitionAnswer,
    UsageAnswer,
)

IDLE_SECONDS_MAX = 3600.0
POLL_SECONDS = 1.0
WAIT_SECONDS_MAX = 7 * 24 * 3600.0
BEATS_PER_LEASE = 3
BEAT_SECONDS_MIN = 0.5
BEAT_SECONDS_MAX = 300.0
ENDS_BEATING = frozenset(["token_stale", "token_mismatch", "task_not_active", "no_active_task"])


class Core:
    def __init__(self, url: str, token: str, agent_id: Optional[str], limits: Limits) -> None:
        self.address = address_of(url)
        self.token = Secret(token)
        self.connection = Connection(limits, self.token)
        self.session = Session(self.connection, self.token)
        claims = claims_in(self.token)
        self.agent_id = agent_id or str(claims.get("sub", ""))
        run_id = claims.get("run_id")
        self._run_id: Optional[str] = run_id if isinstance(run_id, str) else None
        self._pending_approval: Optional[str] = None

    def claim_task(self, task_id: Optional[str], capabilities: Optional[Sequence[str]]) -> Flow[ClaimAnswer]:
        listed = None if capabilities is None else list(capabilities)
        body = {"agent_id": self.agent_id, **_given(task_id=task_id, capabilities=listed)}
        answer = yield from self.session.call_as_agent("POST", "/tasks/claim", body)
        self._pending_approval = None
        return cast(ClaimAnswer, answer)

    def request_transition(
        self,
        target: str,
        artifacts: Optional[Mapping[str, Any]],
        evidence: Optional[Mapping[str, Any]],
        claims: Optional[Mapping[str, bool]],
    ) -> Flow[TransitionAnswer]:
        body = {"target_phase": target, "artifacts": dict(artifacts or {}), **_given(evidence=evidence, claims=claims)}
        answer = yield from self.post("/tasks/transition", body)
        if answer.get("allowed") is True:
            return cast(TransitionAnswer, answer)
        raise TransitionBlocked(target, answer)

    def check_tool(self, name: str, args: Mapping[str, Any]) -> Flow[ToolCheck]:
        answer = yield from self.post("/tools/check", {"tool_name": name, "args": dict(args)})
        return cast(ToolCheck, answer)

    def get_state_snapshot(self) -> Flow[StateSnapshot]:
        return cast(StateSnapshot, (yield from self.get("/state/snapshot")))

    def continue_(self) -> Flow[PromptAnswer]:
        return cast(PromptAnswer, (yield from self.post("/prompt/continue", {})))

    def use_tool(self, name: str, args: Mapping[str, Any]) -> Flow[ToolAnswer]:
        try:
            answer = yield from self.post("/tools/execute", {"tool_name": name, "args": dict(args)})
            return cast(ToolAnswer, answer)
        except ApiError as error:
            raise tool_error(error) from None

    def next(
        self,
        claims: Optional[Mapping[str, bool]],
        artifacts: Optional[Mapping[str, Any]],
        evidence: Optional[Mapping[str, Any]],
    ) -> Flow[PromptAnswer]:
        body = {"claims": dict(claims or {}), **_given(artifacts=artifacts, evidence=evidence)}
        answer = yield from self.post("/prompt/next", body)
        # An answer that is given again after it was lost is the transition's own.
        words = {"kind": "prompt", "text": answer["prompt"]} if isinstance(answer.get("prompt"), str) else {}
        return cast(PromptAnswer, {**words, **answer})

    def get_phase_content(self, phase: Any) -> Flow[PhaseAnswer]:
        held = self.session.require()
        answer = yield from self.get(f"/phases/{_part(held.phase if phase is None else phase)}")
        return cast(PhaseAnswer, answer)

    def complete_phase(self, phase: Any, evidence: Mapping[str, Any]) -> Flow[CompletionAnswer]:
        answer = yield from self.post(f"/phases/{_part(phase)}/complete", {"evidence": dict(evidence)})
        return cast(CompletionAnswer, answer)

    def search_knowledge(
        self,
        query: str,
        phase: Union[str, int, None],
        tags: Optional[Sequence[str]],
        workflow: Optional[str],
        n_results: Optional[int],
    ) -> Flow[KnowledgeAnswer]:
        listed = None if tags is None else list(tags)
        filters = _given(phase=phase, tags=listed, workflow=workflow, n_results=n_results)
        answer = yield from self.post("/knowledge/search", {"query": query, **filters})
        return cast(KnowledgeAnswer, answer)

    def wait_for_approval(self, approval_id: Optional[str], timeout_seconds: Optional[float]) -> Flow[ApprovalAnswer]:
        self.session.require()
        wanted = approval_id or self._pending_approval
        if wanted is None:
            raise PhaselockError("no approval is pending")
        longest = WAIT_SECONDS_MAX if timeout_seconds is None else min(timeout_seconds, WAIT_SECONDS_MAX)
        until = time.monotonic() + longest
        while True:
            approval = yield from self.get(f"/approvals/{_part(wanted)}")
            if approval.get("status") != "pending":
                return cast(ApprovalAnswer, approval)
            left = until - time.monotonic()
            if left <= 0:
                raise WaitTimeout(f"approval {wanted} is still pending")
            yield Pause(min(POLL_SECONDS, left))

    def events(self, after: Optional[int]) -> Flow[None]:
        task_id = self.session.require().task_id
        if after is None:
            snapshot = yield from self.get("/state/snapshot")
            after = _newest(snapshot.get("events"))
        yield from follow(self.connection, self.token, task_id, after)

    def release(self, reason: Optional[str]) -> Flow[ReleaseAnswer]:
        answer = yield from self.post("/tasks/release", _given(reason=reason))
        self.session.forget()
        return cast(ReleaseAnswer, answer)

    def get_coordination(self, wait_seconds: Optional[int]) -> Flow[CouncilView]:
        query = "" if wait_seconds is None else f"?wait={int(wait_seconds)}"
        view = yield from self.session.call_as_agent("GET", f"{self._coordination()}{query}")
        return cast(CouncilView, view)

    def respond(self, text: str, calls: List[JsonObject]) -> Flow[ResponseAnswer]:
        body: Dict[str, Any] = {"tool_calls": calls, **({"text": text} if text else {})}
        answer = yield from self.session.call_as_agent("POST", f"{self._coordination()}/respond", body)
        return cast(ResponseAnswer, answer)

    def vote(self, agent_id: str, reason: str) -> Flow[ResponseAnswer]:
        return (yield from self.respond("", [{"name": "vote", "arguments": {"agent_id": agent_id, "reason": reason}}]))

    def new_answer(self, content: str, verdict: Optional[str]) -> Flow[ResponseAnswer]:
        call = {"name": "new_answer", "arguments": {"content": content, **_given(verdict=verdict)}}
        return (yield from self.respond("", [call]))

    def report_usage(self, usage: Mapping[str, Any]) -> Flow[UsageAnswer]:
        given = _given(**usage)
        answer = yield from self.post("/usage", {"message_id": str(uuid.uuid4()), **given})
        return cast(UsageAnswer, answer)

    def post(self, path: str, body: Mapping[str, Any]) -> Flow[JsonObject]:
        task_id = self.session.require().task_id
        answer = yield from self.session.call("POST", path, {"task_id": task_id, **body})
        until = time.monotonic() + WAIT_SECONDS_MAX
        # Gates and tests that take long are asked for again: the same request joins the one that runs.
        while answer.get("checking") is True and time.monotonic() < until:
            answer = yield from self.session.call("POST", path, {"task_id": task_id, **body})
        pending = answer.get("pending_approval")
        if isinstance(pending, dict):
            self._pending_approval = str(pending.get("id"))
        return answer

    def batch(self, calls: Sequence[Mapping[str, Any]]) -> Flow[BatchAnswer]:
        given = [dict(one) for one in calls]
        results: List[JsonObject] = []
        until = time.monotonic() + WAIT_SECONDS_MAX
        while True:
            answer = yield from self.post("/tools/batch", {"calls": given[len(results) :]})
            results.extend(answer["results"])
            # A tool that runs tests takes long: it is asked for again, together with the calls after it.
            is_later = bool(results) and results[-1].get("checking") is True and time.monotonic() < until
            if not is_later:
                return cast(BatchAnswer, {**answer, "results": results})
            results.pop()

    def get(self, path: str) -> Flow[JsonObject]:
        return (yield from self.session.call("GET", path))

    def beat(self) -> Flow[bool]:
        """Keeps lease and token alive. What goes wrong here is told by the next call of the program."""
        held = self.session.held
        if held is None:
            return False
        if time.monotonic() - self.session.used_at > IDLE_SECONDS_MAX:
            return True
        try:
            if (yield from self.session.renew_if_due()):
                return True
            yield from self.connection.call(Request("POST", "/tasks/heartbeat", held.token, {"task_id": held.task_id}))
        except ApiError as error:
            # What has lost its task does not beat on, unless there is a newer token by now.
            now = self.session.held
            return error.code not in ENDS_BEATING or (now is not None and now.token != held.token)
        except PhaselockError:
            return not self.connection.is_closed
        return True

    def _coordination(self) -> str:
        if self._run_id is not None:
            return f"/coordinations/{_part(self._run_id)}"
        self.session.require()
        raise PhaselockError("this needs the token of a participant in a council")


def beat_seconds(task: Mapping[str, Any]) -> float:
    """Three beats in a lease: two may be lost. The lease is read off the server's own times."""
    try:
        lease = _time(task["lease_expires_at"]) - _time(task["updated_at"])
    except (KeyError, TypeError, ValueError):
        return BEAT_SECONDS_MAX
    return min(BEAT_SECONDS_MAX, max(BEAT_SECONDS_MIN, lease / BEATS_PER_LEASE))


def _newest(events: Any) -> int:
    newest = events[0] if isinstance(events, list) and events else None
    number = newest.get("seq") if isinstance(newest, dict) else None
    return number if isinstance(number, int) else 0


def _time(text: str) -> float:
    return datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()


def _given(**fields: Any) -> JsonObject:
    return {name: value for name, value in fields.items() if value is not None}


def _part(value: Any) -> str:
    return quote(str(value), safe="")
