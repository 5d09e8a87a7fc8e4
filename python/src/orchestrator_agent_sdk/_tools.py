"""The calls of tools. Generated from the routes and tools of the server by `npm run generate:api`; not to be edited.

A tool that a contract defines takes any arguments.
"""

from __future__ import annotations

from typing import Any, Coroutine, Literal, NoReturn, Sequence, overload

from ._base import BaseClient
from ._effects import Flow
from .types import Edit, File, ToolAnswer, ToolCheck

BuiltInTool = Literal[
    "read_files",
    "write_files",
    "edit_files",
    "glob",
    "grep",
    "search_codebase",
    "bash",
    "run_tests",
    "git_status",
    "git_diff",
    "git_log",
    "git_commit",
    "ask_user_question",
    "request_setup_change",
    "request_dependency",
    "web_fetch",
]


class WrongArguments:
    """What a type checker takes a call for whose arguments a built-in tool does not have. There is no such value."""


class ToolCalls(BaseClient):
    """Tools, without asyncio."""

    @overload
    def use_tool(self, name: Literal["read_files"], /, *, path: str, offset: int = ..., limit: int = ...) -> ToolAnswer: ...

    @overload
    def use_tool(self, name: Literal["read_files"], /, *, paths: Sequence[str], offset: int = ..., limit: int = ...) -> ToolAnswer: ...

    @overload
    def use_tool(self, name: Literal["write_files"], /, *, path: str, content: str = ..., mode: Literal["w", "a"] = ...) -> ToolAnswer: ...

    @overload
    def use_tool(self, name: Literal["write_files"], /, *, content: str = ..., mode: Literal["w", "a"] = ..., files: Sequence[File]) -> ToolAnswer: ...

    @overload
    def use_tool(self, name: Literal["edit_files"], /, *, path: str, edits: Sequence[Edit]) -> ToolAnswer: ...

    @overload
    def use_tool(self, name: Literal["glob"], /, *, pattern: str, path: str = ..., limit: int = ...) -> ToolAnswer: ...

    @overload
    def use_tool(self, name: Literal["grep"], /, *, pattern: str, path: str = ..., glob: str = ..., ignore_case: bool = ..., limit: int = ...) -> ToolAnswer: ...

    @overload
    def use_tool(self, name: Literal["search_codebase"], /, *, query: str, path: str = ..., limit: int = ...) -> ToolAnswer: ...

    @overload
    def use_tool(self, name: Literal["bash"], /, *, command: str, timeout: int = ..., cwd: str = ...) -> ToolAnswer: ...

    @overload
    def use_tool(self, name: Literal["run_tests"], /, *, filter: str = ...) -> ToolAnswer: ...  # type: ignore[overload-overlap]

    @overload
    def use_tool(self, name: Literal["git_status"], /) -> ToolAnswer: ...  # type: ignore[overload-overlap]

    @overload
    def use_tool(self, name: Literal["git_diff"], /, *, paths: Sequence[str] = ..., staged: bool = ...) -> ToolAnswer: ...  # type: ignore[overload-overlap]

    @overload
    def use_tool(self, name: Literal["git_log"], /, *, limit: int = ...) -> ToolAnswer: ...  # type: ignore[overload-overlap]

    @overload
    def use_tool(self, name: Literal["git_commit"], /, *, message: str, paths: Sequence[str] = ...) -> ToolAnswer: ...

    @overload
    def use_tool(self, name: Literal["ask_user_question"], /, *, question: str, options: Sequence[str] = ...) -> ToolAnswer: ...

    @overload
    def use_tool(self, name: Literal["request_setup_change"], /, *, paths: Sequence[str], reason: str) -> ToolAnswer: ...

    @overload
    def use_tool(self, name: Literal["request_dependency"], /, *, command: Sequence[str], reason: str, cwd: str = ...) -> ToolAnswer: ...

    @overload
    def use_tool(self, name: Literal["web_fetch"], /, *, url: str) -> ToolAnswer: ...

    @overload
    def use_tool(self, name: BuiltInTool, /, **args: Any) -> "Coroutine[WrongArguments, WrongArguments, NoReturn]": ...

    @overload
    def use_tool(self, name: str, /, **args: Any) -> ToolAnswer: ...

    def use_tool(self, name: str, /, **args: Any) -> Any:
        """Uses a tool. Raises ``ToolDenied`` when the phase does not allow it, ``ToolFailed`` when it could not."""
        return self._run(self._core.use_tool(name, args))

    @overload
    def check_tool(self, name: Literal["read_files"], /, *, path: str, offset: int = ..., limit: int = ...) -> ToolCheck: ...

    @overload
    def check_tool(self, name: Literal["read_files"], /, *, paths: Sequence[str], offset: int = ..., limit: int = ...) -> ToolCheck: ...

    @overload
    def check_tool(self, name: Literal["write_files"], /, *, path: str, content: str = ..., mode: Literal["w", "a"] = ...) -> ToolCheck: ...

    @overload
    def check_tool(self, name: Literal["write_files"], /, *, content: str = ..., mode: Literal["w", "a"] = ..., files: Sequence[File]) -> ToolCheck: ...

    @overload
    def check_tool(self, name: Literal["edit_files"], /, *, path: str, edits: Sequence[Edit]) -> ToolCheck: ...

    @overload
    def check_tool(self, name: Literal["glob"], /, *, pattern: str, path: str = ..., limit: int = ...) -> ToolCheck: ...

    @overload
    def check_tool(self, name: Literal["grep"], /, *, pattern: str, path: str = ..., glob: str = ..., ignore_case: bool = ..., limit: int = ...) -> ToolCheck: ...

    @overload
    def check_tool(self, name: Literal["search_codebase"], /, *, query: str, path: str = ..., limit: int = ...) -> ToolCheck: ...

    @overload
    def check_tool(self, name: Literal["bash"], /, *, command: str, timeout: int = ..., cwd: str = ...) -> ToolCheck: ...

    @overload
    def check_tool(self, name: Literal["run_tests"], /, *, filter: str = ...) -> ToolCheck: ...  # type: ignore[overload-overlap]

    @overload
    def check_tool(self, name: Literal["git_status"], /) -> ToolCheck: ...  # type: ignore[overload-overlap]

    @overload
    def check_tool(self, name: Literal["git_diff"], /, *, paths: Sequence[str] = ..., staged: bool = ...) -> ToolCheck: ...  # type: ignore[overload-overlap]

    @overload
    def check_tool(self, name: Literal["git_log"], /, *, limit: int = ...) -> ToolCheck: ...  # type: ignore[overload-overlap]

    @overload
    def check_tool(self, name: Literal["git_commit"], /, *, message: str, paths: Sequence[str] = ...) -> ToolCheck: ...

    @overload
    def check_tool(self, name: Literal["ask_user_question"], /, *, question: str, options: Sequence[str] = ...) -> ToolCheck: ...

    @overload
    def check_tool(self, name: Literal["request_setup_change"], /, *, paths: Sequence[str], reason: str) -> ToolCheck: ...

    @overload
    def check_tool(self, name: Literal["request_dependency"], /, *, command: Sequence[str], reason: str, cwd: str = ...) -> ToolCheck: ...

    @overload
    def check_tool(self, name: Literal["web_fetch"], /, *, url: str) -> ToolCheck: ...

    @overload
    def check_tool(self, name: BuiltInTool, /, **args: Any) -> "Coroutine[WrongArguments, WrongArguments, NoReturn]": ...

    @overload
    def check_tool(self, name: str, /, **args: Any) -> ToolCheck: ...

    def check_tool(self, name: str, /, **args: Any) -> Any:
        """Decides a call and records it, as ``use_tool`` does, without running anything."""
        return self._run(self._core.check_tool(name, args))

    def _run(self, flow: Flow[Any]) -> Any:
        """Waits for a flow."""
        raise NotImplementedError


class AsyncToolCalls(BaseClient):
    """Tools, with asyncio."""

    @overload
    async def use_tool(self, name: Literal["read_files"], /, *, path: str, offset: int = ..., limit: int = ...) -> ToolAnswer: ...

    @overload
    async def use_tool(self, name: Literal["read_files"], /, *, paths: Sequence[str], offset: int = ..., limit: int = ...) -> ToolAnswer: ...

    @overload
    async def use_tool(self, name: Literal["write_files"], /, *, path: str, content: str = ..., mode: Literal["w", "a"] = ...) -> ToolAnswer: ...

    @overload
    async def use_tool(self, name: Literal["write_files"], /, *, content: str = ..., mode: Literal["w", "a"] = ..., files: Sequence[File]) -> ToolAnswer: ...

    @overload
    async def use_tool(self, name: Literal["edit_files"], /, *, path: str, edits: Sequence[Edit]) -> ToolAnswer: ...

    @overload
    async def use_tool(self, name: Literal["glob"], /, *, pattern: str, path: str = ..., limit: int = ...) -> ToolAnswer: ...

    @overload
    async def use_tool(self, name: Literal["grep"], /, *, pattern: str, path: str = ..., glob: str = ..., ignore_case: bool = ..., limit: int = ...) -> ToolAnswer: ...

    @overload
    async def use_tool(self, name: Literal["search_codebase"], /, *, query: str, path: str = ..., limit: int = ...) -> ToolAnswer: ...

    @overload
    async def use_tool(self, name: Literal["bash"], /, *, command: str, timeout: int = ..., cwd: str = ...) -> ToolAnswer: ...

    @overload
    async def use_tool(self, name: Literal["run_tests"], /, *, filter: str = ...) -> ToolAnswer: ...  # type: ignore[overload-overlap]

    @overload
    async def use_tool(self, name: Literal["git_status"], /) -> ToolAnswer: ...  # type: ignore[overload-overlap]

    @overload
    async def use_tool(self, name: Literal["git_diff"], /, *, paths: Sequence[str] = ..., staged: bool = ...) -> ToolAnswer: ...  # type: ignore[overload-overlap]

    @overload
    async def use_tool(self, name: Literal["git_log"], /, *, limit: int = ...) -> ToolAnswer: ...  # type: ignore[overload-overlap]

    @overload
    async def use_tool(self, name: Literal["git_commit"], /, *, message: str, paths: Sequence[str] = ...) -> ToolAnswer: ...

    @overload
    async def use_tool(self, name: Literal["ask_user_question"], /, *, question: str, options: Sequence[str] = ...) -> ToolAnswer: ...

    @overload
    async def use_tool(self, name: Literal["request_setup_change"], /, *, paths: Sequence[str], reason: str) -> ToolAnswer: ...

    @overload
    async def use_tool(self, name: Literal["request_dependency"], /, *, command: Sequence[str], reason: str, cwd: str = ...) -> ToolAnswer: ...

    @overload
    async def use_tool(self, name: Literal["web_fetch"], /, *, url: str) -> ToolAnswer: ...

    @overload
    def use_tool(self, name: BuiltInTool, /, **args: Any) -> WrongArguments: ...

    @overload
    async def use_tool(self, name: str, /, **args: Any) -> ToolAnswer: ...

    async def use_tool(self, name: str, /, **args: Any) -> Any:  # type: ignore[misc]
        """Uses a tool. Raises ``ToolDenied`` when the phase does not allow it, ``ToolFailed`` when it could not."""
        return await self._run(self._core.use_tool(name, args))

    @overload
    async def check_tool(self, name: Literal["read_files"], /, *, path: str, offset: int = ..., limit: int = ...) -> ToolCheck: ...

    @overload
    async def check_tool(self, name: Literal["read_files"], /, *, paths: Sequence[str], offset: int = ..., limit: int = ...) -> ToolCheck: ...

    @overload
    async def check_tool(self, name: Literal["write_files"], /, *, path: str, content: str = ..., mode: Literal["w", "a"] = ...) -> ToolCheck: ...

    @overload
    async def check_tool(self, name: Literal["write_files"], /, *, content: str = ..., mode: Literal["w", "a"] = ..., files: Sequence[File]) -> ToolCheck: ...

    @overload
    async def check_tool(self, name: Literal["edit_files"], /, *, path: str, edits: Sequence[Edit]) -> ToolCheck: ...

    @overload
    async def check_tool(self, name: Literal["glob"], /, *, pattern: str, path: str = ..., limit: int = ...) -> ToolCheck: ...

    @overload
    async def check_tool(self, name: Literal["grep"], /, *, pattern: str, path: str = ..., glob: str = ..., ignore_case: bool = ..., limit: int = ...) -> ToolCheck: ...

    @overload
    async def check_tool(self, name: Literal["search_codebase"], /, *, query: str, path: str = ..., limit: int = ...) -> ToolCheck: ...

    @overload
    async def check_tool(self, name: Literal["bash"], /, *, command: str, timeout: int = ..., cwd: str = ...) -> ToolCheck: ...

    @overload
    async def check_tool(self, name: Literal["run_tests"], /, *, filter: str = ...) -> ToolCheck: ...  # type: ignore[overload-overlap]

    @overload
    async def check_tool(self, name: Literal["git_status"], /) -> ToolCheck: ...  # type: ignore[overload-overlap]

    @overload
    async def check_tool(self, name: Literal["git_diff"], /, *, paths: Sequence[str] = ..., staged: bool = ...) -> ToolCheck: ...  # type: ignore[overload-overlap]

    @overload
    async def check_tool(self, name: Literal["git_log"], /, *, limit: int = ...) -> ToolCheck: ...  # type: ignore[overload-overlap]

    @overload
    async def check_tool(self, name: Literal["git_commit"], /, *, message: str, paths: Sequence[str] = ...) -> ToolCheck: ...

    @overload
    async def check_tool(self, name: Literal["ask_user_question"], /, *, question: str, options: Sequence[str] = ...) -> ToolCheck: ...

    @overload
    async def check_tool(self, name: Literal["request_setup_change"], /, *, paths: Sequence[str], reason: str) -> ToolCheck: ...

    @overload
    async def check_tool(self, name: Literal["request_dependency"], /, *, command: Sequence[str], reason: str, cwd: str = ...) -> ToolCheck: ...

    @overload
    async def check_tool(self, name: Literal["web_fetch"], /, *, url: str) -> ToolCheck: ...

    @overload
    def check_tool(self, name: BuiltInTool, /, **args: Any) -> WrongArguments: ...

    @overload
    async def check_tool(self, name: str, /, **args: Any) -> ToolCheck: ...

    async def check_tool(self, name: str, /, **args: Any) -> Any:  # type: ignore[misc]
        """Decides a call and records it, as ``use_tool`` does, without running anything."""
        return await self._run(self._core.check_tool(name, args))

    async def _run(self, flow: Flow[Any]) -> Any:
        """Waits for a flow."""
        raise NotImplementedError
