"""What both clients are before anybody waits."""

from __future__ import annotations

from typing import List, Mapping, Optional, Type, TypeVar

from ._address import environment_of
from ._connection import Limits
from ._core import Core

Client = TypeVar("Client", bound="BaseClient")


class BaseClient:
    """Who the agent is, where the server is, and what the agent holds."""

    def __init__(
        self,
        url: str,
        token: str,
        agent_id: Optional[str] = None,
        *,
        attempts_max: int = 8,
        call_seconds_max: float = 1800.0,
        heartbeat: bool = True,
    ) -> None:
        self._core = Core(url, token, agent_id, Limits(attempts_max, call_seconds_max))
        self._beats = heartbeat
        self._prepare()

    def _prepare(self) -> None:
        """What waiting in one way or the other needs."""
        raise NotImplementedError

    @classmethod
    def from_env(cls: Type[Client], environment: Optional[Mapping[str, str]] = None) -> Client:
        """From ``PHASELOCK_URL``, ``PHASELOCK_TOKEN`` and ``PHASELOCK_AGENT_ID``."""
        return cls(*environment_of(environment))

    @property
    def agent_id(self) -> str:
        return self._core.agent_id

    @property
    def task_id(self) -> Optional[str]:
        held = self._core.session.held
        return None if held is None else held.task_id

    @property
    def phase(self) -> Optional[str]:
        held = self._core.session.held
        return None if held is None else held.phase

    @property
    def allowed_tools(self) -> List[str]:
        held = self._core.session.held
        return [] if held is None else list(held.allowed_tools)

    def __repr__(self) -> str:
        name = type(self).__name__
        return f"{name}(agent_id={self.agent_id!r}, task_id={self.task_id!r}, phase={self.phase!r})"
