"""Everything that this package raises on purpose. No message and no attribute carries a token."""

from __future__ import annotations

from typing import Any, Dict, List, Optional

JsonObject = Dict[str, Any]


class PhaselockError(Exception):
    """The base of all errors of this package."""


class InvalidOptions(PhaselockError):
    """The client was given an address, a token or an environment that it cannot use."""


class NotClaimed(PhaselockError):
    """A call that needs a task came before a claim, or after the task was completed or given back."""

    def __init__(self) -> None:
        super().__init__("claim a task first")


class Unreachable(PhaselockError):
    """The server could not be reached, or did not answer, as often as was tried. What was asked may have happened."""

    def __init__(self, attempts: int, reason: str) -> None:
        self.attempts = attempts
        self.reason = reason
        word = "attempt" if attempts == 1 else "attempts"
        super().__init__(f"the server did not answer ({attempts} {word}): {reason}")


class WaitTimeout(PhaselockError):
    """What was waited for did not happen in the time that was given."""


class ApiError(PhaselockError):
    """The server refused. ``code`` is stable and stands in docs/errors.md of Phaselock."""

    def __init__(self, status: int, problem: JsonObject) -> None:
        self.status = status
        #: The whole answer, as it was sent.
        self.problem = problem
        self.code: str = _text(problem.get("code")) or "unreadable_answer"
        self.detail: str = _text(problem.get("detail")) or f"The server answered with status {status}."
        self.remedy: Optional[str] = _text(problem.get("remedy"))
        self.allowed_tools: List[str] = texts_of(problem.get("allowed_tools"))
        self.next_step: Optional[str] = _text(problem.get("next_step"))
        self.retry: Optional[JsonObject] = _object(problem.get("retry"))
        super().__init__(f"{self.detail} [{self.code}]")


class TokenRefused(ApiError):
    """The token does not open what was asked for: it is missing, expired, superseded or of another task."""


class ToolDenied(ApiError):
    """The phase does not let the tool be used like this. Nothing of the call was kept."""


class ToolFailed(ApiError):
    """The tool was allowed, and could not do it."""


class TransitionBlocked(PhaselockError):
    """The phase cannot be left now: everything that is in the way, at once."""

    def __init__(self, target: str, answer: JsonObject) -> None:
        #: The whole answer, as it was sent.
        self.answer = answer
        self.phase: str = _text(answer.get("phase")) or ""
        #: Each with code, gate, check, artifact, message, remedy, severity and, where something was judged, its grade:
        #: "reported", "artifact", "observed" or "proved".
        self.blockers: List[JsonObject] = _objects(answer.get("blockers"))
        self.warnings: List[JsonObject] = _objects(answer.get("warnings"))
        self.retry: Optional[JsonObject] = _object(answer.get("retry"))
        self.pending_approval: Optional[JsonObject] = _object(answer.get("pending_approval"))
        self.allowed_tools: List[str] = texts_of(answer.get("allowed_tools"))
        self.next_step: Optional[str] = _text(answer.get("next_step"))
        told = "; ".join(f"{one.get('message')} [{one.get('code')}]" for one in self.blockers)
        super().__init__(f"{target} is blocked: {told}")


TOKEN_CODES = frozenset(["token_missing", "token_invalid", "token_stale", "token_mismatch"])
DENIAL_CODES = frozenset(
    ["forbidden_tool", "unknown_tool", "constraint_violation", "invalid_request", "not_permitted", "rule_interrupt"]
)
FAILURE_CODES = frozenset(["tool_failed", "sandbox_unavailable", "invalid_regex"])


def api_error(status: int, problem: JsonObject) -> ApiError:
    return (TokenRefused if problem.get("code") in TOKEN_CODES else ApiError)(status, problem)


def tool_error(error: ApiError) -> ApiError:
    """The same refusal in the words of a tool call."""
    if error.code in DENIAL_CODES:
        return ToolDenied(error.status, error.problem)
    return ToolFailed(error.status, error.problem) if error.code in FAILURE_CODES else error


def _text(value: object) -> Optional[str]:
    return value if isinstance(value, str) else None


def texts_of(value: object) -> List[str]:
    return [one for one in value if isinstance(one, str)] if isinstance(value, list) else []


def _object(value: object) -> Optional[JsonObject]:
    return value if isinstance(value, dict) else None


def _objects(value: object) -> List[JsonObject]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []
