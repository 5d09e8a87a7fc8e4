"""The client without asyncio."""

from __future__ import annotations

import threading
import weakref
from types import TracebackType
from typing import Any, Iterator, Mapping, Optional, Sequence, Type, TypeVar, Union

from ._core import beat_seconds
from ._effects import Done, Effect, Emit, Flow, NetworkFailure, Open, Pause, Read, Send, advance
from ._errors import PhaselockError
from ._follow import TaskEvent
from ._http_sync import SyncTransport
from ._tools import ToolCalls
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
    TransitionAnswer,
    UsageAnswer,
)

T = TypeVar("T")


class AgentClient(ToolCalls):
    """An agent's side of Phaselock. Before a claim every other call raises ``NotClaimed``.

    ``url`` is ``http://localhost:8000`` or ``unix:///path/to.sock``; ``token`` is the agent's token, or a
    participant's for coordinations. ``attempts_max`` quick failures in a row end a call, and so does
    ``call_seconds_max``. With ``heartbeat=False`` the lease is not kept alive between calls.
    """

    def _prepare(self) -> None:
        self._transport = SyncTransport(self._core.address)
        self._closed = threading.Event()
        self._stop_beating = threading.Event()

    def claim_task(self, *, task_id: Optional[str] = None, capabilities: Optional[Sequence[str]] = None) -> ClaimAnswer:
        """Gets a task, or the one back that this agent holds. The phase token is kept and renewed from here on."""
        answer = self._run(self._core.claim_task(task_id, capabilities))
        if self._beats:
            self._start_beating(beat_seconds(answer.get("task", {})))
        return answer

    def request_transition(
        self,
        target: str,
        artifacts: Optional[Mapping[str, Any]] = None,
        *,
        evidence: Optional[Mapping[str, Any]] = None,
        claims: Optional[Mapping[str, bool]] = None,
    ) -> TransitionAnswer:
        """Leaves the phase. Raises ``TransitionBlocked`` with everything that is in the way."""
        return self._run(self._core.request_transition(target, artifacts, evidence, claims))

    def batch(self, calls: Sequence[Mapping[str, Any]]) -> BatchAnswer:
        """Up to 32 calls in order, each decided on its own: a refused one is an ``error`` among the results."""
        return self._run(self._core.batch(calls))

    def get_state_snapshot(self) -> StateSnapshot:
        return self._run(self._core.get_state_snapshot())

    def next(
        self,
        claims: Optional[Mapping[str, bool]] = None,
        *,
        artifacts: Optional[Mapping[str, Any]] = None,
        evidence: Optional[Mapping[str, Any]] = None,
    ) -> PromptAnswer:
        """Says that something is done, and goes on: the prompt of the next phase, of this one, or an interrupt."""
        return self._run(self._core.next(claims, artifacts, evidence))

    def continue_(self) -> PromptAnswer:
        """Acknowledges the interrupt that was shown, and goes on."""
        return self._run(self._core.continue_())

    def get_phase_content(self, phase: Any = None) -> PhaseAnswer:
        """What the current phase says, or a completed one."""
        return self._run(self._core.get_phase_content(phase))

    def complete_phase(self, phase: Any, evidence: Mapping[str, Any]) -> CompletionAnswer:
        """Hands in the evidence of a phase. Evidence that does not hold is an answer: look at ``checkpoint_passed``."""
        return self._run(self._core.complete_phase(phase, evidence))

    def search_knowledge(
        self,
        query: str,
        *,
        phase: Union[str, int, None] = None,
        tags: Optional[Sequence[str]] = None,
        workflow: Optional[str] = None,
        n_results: Optional[int] = None,
    ) -> KnowledgeAnswer:
        return self._run(self._core.search_knowledge(query, phase, tags, workflow, n_results))

    def report_usage(
        self,
        *,
        input_tokens: int,
        output_tokens: int,
        cache_read_tokens: Optional[int] = None,
        cache_creation_tokens: Optional[int] = None,
        model: Optional[str] = None,
        message_id: Optional[str] = None,
    ) -> UsageAnswer:
        """Tokens that were used. A report without ``message_id`` is given one, so that it counts once."""
        usage = {
            "input_tokens": input_tokens,
            "output_tokens": output_tokens,
            "cache_read_tokens": cache_read_tokens,
            "cache_creation_tokens": cache_creation_tokens,
            "model": model,
            "message_id": message_id,
        }
        return self._run(self._core.report_usage(usage))

    def wait_for_approval(
        self, approval_id: Optional[str] = None, *, timeout_seconds: Optional[float] = None
    ) -> ApprovalAnswer:
        """Waits until an approval is decided, by default the one that the last blocked transition asked for."""
        return self._run(self._core.wait_for_approval(approval_id, timeout_seconds))

    def events(self, *, after: Optional[int] = None) -> Iterator[TaskEvent]:
        """The events of the task from now on, or after the one with this id. Ends with the task, or with the client."""
        flow = self._core.events(after)
        try:
            effect = advance(flow)
            while not isinstance(effect, Done):
                if isinstance(effect, Emit):
                    yield effect.value
                    effect = advance(flow)
                else:
                    effect = self._step(flow, effect)
        finally:
            flow.close()

    def release(self, reason: Optional[str] = None) -> ReleaseAnswer:
        """Gives the task back: it is queued in the phase that it is in."""
        answer = self._run(self._core.release(reason))
        self._stop_beating.set()
        return answer

    def get_coordination(self, *, wait_seconds: Optional[int] = None) -> CouncilView:
        """The coordination that the token of a participant is for: the question, the answers, and what must be done."""
        return self._run(self._core.get_coordination(wait_seconds))

    def vote(self, agent_id: str, reason: str) -> ResponseAnswer:
        """Votes in a coordination. ``agent_id`` is one of ``valid_agents`` of the view."""
        return self._run(self._core.vote(agent_id, reason))

    def new_answer(self, content: str, *, verdict: Optional[str] = None) -> ResponseAnswer:
        """Answers in a coordination; for a consensus with a verdict, ``approve`` or ``request_changes``."""
        return self._run(self._core.new_answer(content, verdict))

    def present(self, text: str) -> ResponseAnswer:
        """Presents the answer that won, where the view says ``must: present``."""
        return self._run(self._core.respond(text, []))

    def close(self) -> None:
        """Ends heartbeats, streams and whatever waits. The task stays claimed until its lease ends."""
        self._core.connection.is_closed = True
        self._stop_beating.set()
        self._closed.set()
        self._transport.close()

    def __enter__(self) -> "AgentClient":
        return self

    def __exit__(
        self,
        kind: Optional[Type[BaseException]],
        error: Optional[BaseException],
        trace: Optional[TracebackType],
    ) -> None:
        self.close()

    def _run(self, flow: Flow[T]) -> T:
        effect = advance(flow)
        while not isinstance(effect, Done):
            effect = self._step(flow, effect)
        result: T = effect.value
        return result

    def _step(self, flow: Flow[T], effect: Effect) -> Union[Effect, Done]:
        try:
            result = self._perform(effect)
        except (NetworkFailure, PhaselockError) as error:
            return advance(flow, error=error)
        return advance(flow, result)

    def _perform(self, effect: Effect) -> Any:
        if isinstance(effect, Send):
            return self._transport.send(effect.request, effect.seconds_max)
        if isinstance(effect, Pause):
            self._closed.wait(effect.seconds)
            return self._core.connection.check_open()
        if isinstance(effect, Open):
            return self._transport.open(effect.request, effect.silence_seconds_max)
        if isinstance(effect, Read):
            return effect.stream.read()
        raise TypeError("an effect that only streams have")

    def _start_beating(self, every_seconds: float) -> None:
        self._stop_beating.set()
        self._stop_beating = threading.Event()
        # A daemon that holds no client: neither the program nor the client is kept alive by it.
        beating = (weakref.ref(self), self._stop_beating, every_seconds)
        threading.Thread(target=_beat, args=beating, name="phaselock-heartbeat", daemon=True).start()


def _beat(of: "weakref.ref[AgentClient]", stop: threading.Event, every_seconds: float) -> None:
    while not stop.wait(every_seconds):
        client = of()
        if client is None or not client._run(client._core.beat()):
            return
        del client
