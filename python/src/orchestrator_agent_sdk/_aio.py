"""The client with asyncio."""

from __future__ import annotations

import asyncio
from types import TracebackType
from typing import Any, AsyncIterator, Coroutine, Mapping, Optional, Sequence, Set, Type, TypeVar, Union

from ._core import beat_seconds
from ._effects import Done, Effect, Emit, Flow, NetworkFailure, Open, Pause, Read, Send, advance
from ._errors import PhaselockError
from ._follow import TaskEvent
from ._http_async import AsyncTransport
from ._tools import AsyncToolCalls
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


class AsyncAgentClient(AsyncToolCalls):
    """An agent's side of Phaselock, with asyncio. Before a claim every other call raises ``NotClaimed``.

    ``url`` is ``http://localhost:8000`` or ``unix:///path/to.sock``; ``token`` is the agent's token, or a
    participant's for coordinations. ``attempts_max`` quick failures in a row end a call, and so does
    ``call_seconds_max``. With ``heartbeat=False`` the lease is not kept alive between calls.
    """

    def _prepare(self) -> None:
        self._transport = AsyncTransport(self._core.address)
        self._beating: "Optional[asyncio.Future[None]]" = None
        self._waiting: "Set[asyncio.Future[Any]]" = set()

    async def claim_task(
        self, *, task_id: Optional[str] = None, capabilities: Optional[Sequence[str]] = None
    ) -> ClaimAnswer:
        """Gets a task, or the one back that this agent holds. The phase token is kept and renewed from here on."""
        answer = await self._run(self._core.claim_task(task_id, capabilities))
        if self._beats:
            self._start_beating(beat_seconds(answer.get("task", {})))
        return answer

    async def request_transition(
        self,
        target: str,
        artifacts: Optional[Mapping[str, Any]] = None,
        *,
        evidence: Optional[Mapping[str, Any]] = None,
        claims: Optional[Mapping[str, bool]] = None,
    ) -> TransitionAnswer:
        """Leaves the phase. Raises ``TransitionBlocked`` with everything that is in the way."""
        return await self._run(self._core.request_transition(target, artifacts, evidence, claims))

    async def batch(self, calls: Sequence[Mapping[str, Any]]) -> BatchAnswer:
        """Up to 32 calls in order, each decided on its own: a refused one is an ``error`` among the results."""
        return await self._run(self._core.batch(calls))

    async def get_state_snapshot(self) -> StateSnapshot:
        return await self._run(self._core.get_state_snapshot())

    async def next(
        self,
        claims: Optional[Mapping[str, bool]] = None,
        *,
        artifacts: Optional[Mapping[str, Any]] = None,
        evidence: Optional[Mapping[str, Any]] = None,
    ) -> PromptAnswer:
        """Says that something is done, and goes on: the prompt of the next phase, of this one, or an interrupt."""
        return await self._run(self._core.next(claims, artifacts, evidence))

    async def continue_(self) -> PromptAnswer:
        """Acknowledges the interrupt that was shown, and goes on."""
        return await self._run(self._core.continue_())

    async def get_phase_content(self, phase: Any = None) -> PhaseAnswer:
        """What the current phase says, or a completed one."""
        return await self._run(self._core.get_phase_content(phase))

    async def complete_phase(self, phase: Any, evidence: Mapping[str, Any]) -> CompletionAnswer:
        """Hands in the evidence of a phase. Evidence that does not hold is an answer: look at ``checkpoint_passed``."""
        return await self._run(self._core.complete_phase(phase, evidence))

    async def search_knowledge(
        self,
        query: str,
        *,
        phase: Union[str, int, None] = None,
        tags: Optional[Sequence[str]] = None,
        workflow: Optional[str] = None,
        n_results: Optional[int] = None,
    ) -> KnowledgeAnswer:
        return await self._run(self._core.search_knowledge(query, phase, tags, workflow, n_results))

    async def report_usage(
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
        return await self._run(self._core.report_usage(usage))

    async def wait_for_approval(
        self, approval_id: Optional[str] = None, *, timeout_seconds: Optional[float] = None
    ) -> ApprovalAnswer:
        """Waits until an approval is decided, by default the one that the last blocked transition asked for."""
        return await self._run(self._core.wait_for_approval(approval_id, timeout_seconds))

    async def events(self, *, after: Optional[int] = None) -> AsyncIterator[TaskEvent]:
        """The events of the task from now on, or after the one with this id. Ends with the task, or with the client."""
        flow = self._core.events(after)
        try:
            effect = advance(flow)
            while not isinstance(effect, Done):
                if isinstance(effect, Emit):
                    yield effect.value
                    effect = advance(flow)
                else:
                    effect = await self._step(flow, effect)
        finally:
            flow.close()

    async def release(self, reason: Optional[str] = None) -> ReleaseAnswer:
        """Gives the task back: it is queued in the phase that it is in."""
        answer = await self._run(self._core.release(reason))
        self._stop_beating()
        return answer

    async def get_coordination(self, *, wait_seconds: Optional[int] = None) -> CouncilView:
        """The coordination that the token of a participant is for: the question, the answers, and what must be done."""
        return await self._run(self._core.get_coordination(wait_seconds))

    async def vote(self, agent_id: str, reason: str) -> ResponseAnswer:
        """Votes in a coordination. ``agent_id`` is one of ``valid_agents`` of the view."""
        return await self._run(self._core.vote(agent_id, reason))

    async def new_answer(self, content: str, *, verdict: Optional[str] = None) -> ResponseAnswer:
        """Answers in a coordination; for a consensus with a verdict, ``approve`` or ``request_changes``."""
        return await self._run(self._core.new_answer(content, verdict))

    async def present(self, text: str) -> ResponseAnswer:
        """Presents the answer that won, where the view says ``must: present``."""
        return await self._run(self._core.respond(text, []))

    async def close(self) -> None:
        """Ends heartbeats, streams and whatever waits. The task stays claimed until its lease ends."""
        self._core.connection.is_closed = True
        self._stop_beating()
        for waiting in list(self._waiting):
            waiting.cancel()

    async def __aenter__(self) -> "AsyncAgentClient":
        return self

    async def __aexit__(
        self,
        kind: Optional[Type[BaseException]],
        error: Optional[BaseException],
        trace: Optional[TracebackType],
    ) -> None:
        await self.close()

    async def _run(self, flow: Flow[T]) -> T:
        effect = advance(flow)
        while not isinstance(effect, Done):
            effect = await self._step(flow, effect)
        result: T = effect.value
        return result

    async def _step(self, flow: Flow[T], effect: Effect) -> Union[Effect, Done]:
        try:
            result = await self._uncancelled(self._perform(effect))
        except (NetworkFailure, PhaselockError) as error:
            return advance(flow, error=error)
        return advance(flow, result)

    # What waits is a task of its own, so that closing the client ends it and not whoever waits for it.
    async def _uncancelled(self, work: Coroutine[Any, Any, Any]) -> Any:
        waiting = asyncio.ensure_future(work)
        self._waiting.add(waiting)
        try:
            return await waiting
        except asyncio.CancelledError:
            if self._core.connection.is_closed and waiting.cancelled():
                raise PhaselockError("the client is closed") from None
            waiting.cancel()
            raise
        finally:
            self._waiting.discard(waiting)

    async def _perform(self, effect: Effect) -> Any:
        if isinstance(effect, Send):
            return await self._transport.send(effect.request, effect.seconds_max)
        if isinstance(effect, Pause):
            return await asyncio.sleep(effect.seconds)
        if isinstance(effect, Open):
            return await self._transport.open(effect.request, effect.silence_seconds_max)
        if isinstance(effect, Read):
            return await effect.stream.read()
        raise TypeError("an effect that only streams have")

    def _start_beating(self, every_seconds: float) -> None:
        self._stop_beating()
        self._beating = asyncio.ensure_future(self._beat(every_seconds))

    def _stop_beating(self) -> None:
        if self._beating is not None:
            self._beating.cancel()
        self._beating = None

    async def _beat(self, every_seconds: float) -> None:
        while True:
            await asyncio.sleep(every_seconds)
            if not await self._run(self._core.beat()):
                return
