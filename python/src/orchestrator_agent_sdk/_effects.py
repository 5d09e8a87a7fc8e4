"""What the logic of the client asks for. It is written once; whoever runs it waits with or without asyncio."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Dict, Generator, Mapping, Optional, TypeVar, Union

from ._errors import JsonObject
from ._token import Secret


@dataclass(frozen=True)
class Request:
    method: str
    path: str
    token: Secret
    body: Optional[JsonObject] = None
    #: The same for every attempt of one call, so that the server acts once.
    key: Optional[str] = None
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Answer:
    status: int
    headers: Dict[str, str]
    body: bytes


class NetworkFailure(Exception):
    """There was no answer. ``reason`` is what the machine says of it."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(frozen=True)
class Send:
    """Gives an ``Answer``, or raises ``NetworkFailure``."""

    request: Request
    seconds_max: float


@dataclass(frozen=True)
class Pause:
    seconds: float


@dataclass(frozen=True)
class Open:
    """Gives a stream whose ``status`` and ``headers`` are known, or raises ``NetworkFailure``."""

    request: Request
    silence_seconds_max: float


@dataclass(frozen=True)
class Read:
    """Gives the next bytes of a stream, and none at its end."""

    stream: Any


@dataclass(frozen=True)
class Emit:
    """Hands something out in the middle of the work."""

    value: Any


Effect = Union[Send, Pause, Open, Read, Emit]
T = TypeVar("T")
Flow = Generator[Effect, Any, T]


@dataclass(frozen=True)
class Done:
    """The flow is over."""

    value: Any


def advance(flow: Flow[Any], result: Any = None, error: Optional[Exception] = None) -> Union[Effect, Done]:
    """What a flow asks for next, given what came of the last thing it asked for."""
    try:
        return flow.send(result) if error is None else flow.throw(error)
    except StopIteration as stop:
        return Done(stop.value)
