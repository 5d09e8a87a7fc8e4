"""Client for agents that work under Phaselock: claim a task, use tools, pass gates.

``orchestrator_agent_sdk.types`` has the types of all answers.
"""

from ._aio import AsyncAgentClient
from ._errors import (
    ApiError,
    InvalidOptions,
    NotClaimed,
    PhaselockError,
    TokenRefused,
    ToolDenied,
    ToolFailed,
    TransitionBlocked,
    Unreachable,
    WaitTimeout,
)
from ._follow import TaskEvent
from ._sync import AgentClient

__version__ = "0.2.0"

__all__ = [
    "AgentClient",
    "ApiError",
    "AsyncAgentClient",
    "InvalidOptions",
    "NotClaimed",
    "PhaselockError",
    "TaskEvent",
    "TokenRefused",
    "ToolDenied",
    "ToolFailed",
    "TransitionBlocked",
    "Unreachable",
    "WaitTimeout",
]
