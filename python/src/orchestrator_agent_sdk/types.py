"""What the server answers. Generated from the routes and tools of the server by `npm run generate:api`; not to be edited.

Answers of newer servers may have more fields than these.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Dict, List, Literal, TypedDict, Union

if TYPE_CHECKING:
    from typing_extensions import NotRequired


class Advanced(TypedDict):
    phase: str
    status: "TaskStatus"
    warnings: List["Blocker"]
    expires_at: Union[str, None]
    allowed_tools: List[str]
    prompt: Union[str, None]


class AgentContractPhase(TypedDict):
    id: str
    name: str
    description: NotRequired[str]
    allowed_tools: NotRequired[List[str]]
    required_artifacts: NotRequired[List["AgentContractPhaseRequiredArtifact"]]
    evidence: NotRequired[List["AgentContractPhaseEvidence"]]
    gates: NotRequired[List["AgentContractPhaseGate"]]


class AgentContractPhaseRequiredArtifact(TypedDict):
    type: str
    description: str


class AgentContractPhaseEvidence(TypedDict):
    name: str
    type: str
    description: str
    optional: bool


class AgentContractPhaseGate(TypedDict):
    id: str
    type: str
    checks: List[str]


class AgentContract(TypedDict):
    name: str
    version: str
    hash: str
    phases: List["AgentContractPhase"]


class Alert(TypedDict):
    alert: str
    condition: Literal["gate_block_rate", "task_stuck_in_phase", "approval_waiting"]
    limit: float
    message: str
    since: str


class AllowedViolation(TypedDict):
    code: str
    detail: str


class ApprovalAnswerDecision(TypedDict):
    by: str
    decision: Literal["approve", "reject"]
    comment: Union[str, None]
    at: str
    channel: Union[Literal["in_chat", "cli", "dashboard"], None]


class ApprovalAnswerCovers(TypedDict):
    artifacts: List["ApprovalAnswerCoversArtifact"]
    tree_hash: Union[str, None]


class ApprovalAnswerCoversArtifact(TypedDict):
    type: str
    sha256: str


class ApprovalAnswer(TypedDict):
    id: str
    task_id: str
    task_title: str
    agent_id: Union[str, None]
    workspace: str
    gate: str
    phase: str
    target_phase: str
    status: Literal["pending", "approved", "rejected", "expired", "used", "void"]
    digest: str
    approvers: List[str]
    min_approvals: int
    decisions: List["ApprovalAnswerDecision"]
    artifacts: List["Artifact"]
    evidence: Dict[str, Any]
    warnings: List["Blocker"]
    requested_at: str
    expires_at: str
    contents: Dict[str, Any]
    waiting_seconds: NotRequired[int]
    covers: NotRequired["ApprovalAnswerCovers"]
    outdated: NotRequired[bool]
    diff: NotRequired["ApprovalDiff"]
    checks: NotRequired[List["ApprovalCheck"]]
    refusals: NotRequired[List["PastRefusal"]]
    since_last: NotRequired[Union["SinceLastApproval", None]]


class ApprovalCheck(TypedDict):
    gate: Union[str, None]
    artifact: Union[str, None]
    check: str
    severity: str
    status: Literal["passed", "failed", "warning", "not_run"]
    grade: Union["Grade", None]
    message: str


class ApprovalDiffFrom(TypedDict):
    kind: Literal["approval", "start"]
    approval_id: Union[str, None]
    visit: int
    phase: Union[str, None]
    at: Union[str, None]


class ApprovalDiffTotals(TypedDict):
    files: int
    additions: int
    deletions: int


ApprovalDiff = TypedDict(
    "ApprovalDiff",
    {
        "from": "ApprovalDiffFrom",
        "files": "List[FileDiff]",
        "totals": "ApprovalDiffTotals",
        "truncated": "bool",
        "available": "bool",
        "unavailable_reason": "Union[str, None]",
    },
)


class Artifact(TypedDict):
    type: str
    sha256: str
    bytes: int
    grade: "Grade"
    self_review: NotRequired[bool]


class BatchAnswerResult(TypedDict):
    tool_name: str
    result: NotRequired[Union[Any, None]]
    logged: NotRequired[Literal[True]]
    decision: NotRequired[Literal["allowed"]]
    duration_ms: NotRequired[float]
    violation: NotRequired["AllowedViolation"]
    unenforced: NotRequired[List[str]]
    interrupt: NotRequired["Interrupt"]
    advanced: NotRequired["Advanced"]
    advancing: NotRequired[Literal[True]]
    expires_at: NotRequired[Union[str, None]]
    allowed_tools: NotRequired[List[str]]
    checking: NotRequired[Literal[True]]
    task_id: NotRequired[str]
    phase: NotRequired[str]
    next_step: NotRequired[str]
    error: NotRequired["BatchAnswerResultError"]


class BatchAnswerResultError(TypedDict):
    code: str
    detail: str


class BatchAnswer(TypedDict):
    results: List["BatchAnswerResult"]
    advanced: NotRequired["Advanced"]
    advancing: NotRequired[Literal[True]]
    expires_at: NotRequired[Union[str, None]]
    allowed_tools: NotRequired[List[str]]


class BatchErrorError(TypedDict):
    code: str
    detail: str


class BatchError(TypedDict):
    tool_name: str
    error: "BatchErrorError"


class BatchResult(TypedDict):
    tool_name: str
    result: Any
    logged: Literal[True]
    decision: Literal["allowed"]
    duration_ms: float
    violation: NotRequired["AllowedViolation"]
    unenforced: NotRequired[List[str]]
    interrupt: NotRequired["Interrupt"]
    advanced: NotRequired["Advanced"]
    advancing: NotRequired[Literal[True]]
    expires_at: NotRequired[Union[str, None]]
    allowed_tools: NotRequired[List[str]]


class BatchRunning(TypedDict):
    tool_name: str
    checking: Literal[True]
    decision: Literal["allowed"]
    result: None
    logged: Literal[True]
    task_id: str
    phase: str
    allowed_tools: NotRequired[List[str]]
    next_step: str


class BlockerRun(TypedDict):
    cause: str
    mended_by: str
    remedy: str
    last_lines: List[str]


class Blocker(TypedDict):
    code: str
    gate: Union[str, None]
    check: Union[str, None]
    artifact: Union[str, None]
    message: str
    remedy: str
    severity: Literal["blocking", "warning", "info"]
    grade: NotRequired["Grade"]
    run: NotRequired["BlockerRun"]


class ClaimAnswer(TypedDict):
    task: "Task"
    phase: str
    expires_at: str
    allowed_tools: List[str]
    prompt: str
    contract: "AgentContract"
    warnings: List["Blocker"]


class CompletionAnswerTasks(TypedDict):
    current: Union["CompletionAnswerTasksCurrent", None]
    done: List[str]
    total: int


class CompletionAnswerTasksCurrent(TypedDict):
    id: str
    title: str
    content: str


class CompletionAnswer(TypedDict):
    checkpoint_passed: bool
    missing_evidence: NotRequired[List[str]]
    phase_completed: NotRequired[Union[str, int]]
    status: NotRequired["TaskStatus"]
    warnings: NotRequired[List["Blocker"]]
    next_phase: NotRequired[Union[str, int]]
    next_phase_content: NotRequired[Union["PhaseContent", None]]
    tasks: NotRequired["CompletionAnswerTasks"]
    artifacts_available: NotRequired[Dict[str, Dict[str, Any]]]
    expires_at: NotRequired[Union[str, Union[str, None]]]
    allowed_tools: List[str]
    workflow_complete: NotRequired[Literal[True]]
    message: NotRequired[str]
    current_phase: NotRequired[Union[str, int]]
    current_phase_content: NotRequired[Union["PhaseContent", None]]
    retry: NotRequired["Retry"]
    task_id: NotRequired[str]
    phase: NotRequired[str]
    next_step: NotRequired[str]
    error: NotRequired[Literal["incomplete_checkpoint", "rule_interrupt"]]
    required_format: NotRequired[Dict[str, "EvidenceField"]]
    examples: NotRequired[Dict[str, Any]]
    blockers: NotRequired[List["Blocker"]]
    interrupt: NotRequired["Interrupt"]
    pending_approval: NotRequired["PendingApproval"]


class ContractRef(TypedDict):
    name: str
    version: str
    hash: str


class CouncilViewAnswer(TypedDict):
    agent_id: str
    label: str
    content: str
    verdict: Union[Literal["approve", "request_changes"], None]


class CouncilView(TypedDict):
    id: str
    question: str
    anonymous_id: str
    round: int
    attempt: int
    max_attempts: int
    answers: List["CouncilViewAnswer"]
    must: Literal["new_answer", "vote", "new_answer_or_vote", "present", "wait", "none"]
    valid_agents: List[str]
    needs_verdict: bool
    is_complete: bool
    finish_reason: "FinishReason"
    winner: Union[str, None]


class DiffHunk(TypedDict):
    old_start: int
    old_lines: int
    new_start: int
    new_lines: int
    lines: List[str]


class EvidenceField(TypedDict):
    type: str
    description: str
    required: bool
    grade: str
    min: NotRequired[float]
    max: NotRequired[float]
    above: NotRequired[float]
    min_length: NotRequired[int]
    pattern: NotRequired[str]
    enum: NotRequired[List[Any]]
    must_be: NotRequired[Any]
    may_be_false: NotRequired[bool]
    rules: NotRequired[List[str]]
    source: NotRequired[str]


class FileDiff(TypedDict):
    path: str
    status: Literal["added", "modified", "deleted"]
    binary: bool
    additions: int
    deletions: int
    unexplained: bool
    other_task: Union[str, None]
    pinned: bool
    hunks: List["DiffHunk"]
    omitted: Union[Literal["binary", "too_large", "too_many_files", "secret", "not_kept"], None]


FinishReason = Literal["in_progress", "completed", "timeout", "error", "cancelled", "parked"]


Grade = Literal["reported", "artifact", "observed", "proved"]


class Interrupt(TypedDict):
    kind: Literal["interrupt"]
    text: str
    phase: str
    violation: "RuleViolation"


class KnowledgeAnswerResult(TypedDict):
    content: str
    file: str
    section: Union[str, None]
    start_line: int
    score: float
    tokens: int
    tags: List[str]
    phase: Union[str, None]


class KnowledgeAnswer(TypedDict):
    results: List["KnowledgeAnswerResult"]
    total_tokens: int
    retrieval_method: Literal["hybrid", "lexical"]
    degraded: NotRequired[Literal[True]]
    hint: NotRequired[str]
    query_time_ms: float
    index_version: int


class ParticipantViewAnswer(TypedDict):
    agent_id: str
    label: str
    content: str
    verdict: Union[Literal["approve", "request_changes"], None]


class ParticipantView(TypedDict):
    id: str
    question: str
    anonymous_id: str
    round: int
    attempt: int
    max_attempts: int
    answers: List["ParticipantViewAnswer"]
    must: Literal["new_answer", "vote", "new_answer_or_vote", "present", "wait", "none"]
    valid_agents: List[str]
    needs_verdict: bool
    is_complete: bool
    finish_reason: "FinishReason"
    winner: Union[str, None]


class PastRefusal(TypedDict):
    seq: int
    at: str
    phase: str
    code: str
    detail: str


class PendingApproval(TypedDict):
    id: str
    digest: str
    expires_at: str


class PhaseAnswerTasks(TypedDict):
    current: Union["PhaseAnswerTasksCurrent", None]
    done: List[str]
    total: int


class PhaseAnswerTasksCurrent(TypedDict):
    id: str
    title: str
    content: str


class PhaseAnswerCheckpointCriteria(TypedDict):
    required_evidence: Dict[str, "EvidenceField"]
    min_verified: NotRequired[int]


class PhaseAnswer(TypedDict):
    phase_number: Union[str, int]
    phase_content: "PhaseContent"
    tasks: NotRequired["PhaseAnswerTasks"]
    artifacts_from_previous: Dict[str, Dict[str, Any]]
    checkpoint_criteria: "PhaseAnswerCheckpointCriteria"


class PhaseContent(TypedDict):
    content: str
    sources: List[str]
    total_tokens: int


class PromptAnswerViolation(TypedDict):
    code: NotRequired[str]
    detail: NotRequired[str]
    rule: NotRequired[str]
    rule_type: NotRequired[str]
    diagnostic: NotRequired[str]
    suggestion: NotRequired[str]
    metrics_snapshot: NotRequired[Dict[str, Any]]
    recent_events: NotRequired[List["PromptAnswerViolationRecentEvent"]]


class PromptAnswerViolationRecentEvent(TypedDict):
    at: str
    text: str


class PromptAnswerArtifact(TypedDict):
    type: str
    sha256: str
    bytes: int
    grade: "Grade"
    self_review: NotRequired[bool]
    phase: str


class PromptAnswerPendingConsensus(TypedDict):
    id: str


class PromptAnswer(TypedDict):
    kind: Literal["prompt", "interrupt"]
    text: str
    violation: NotRequired[Union["RuleViolation", "PromptAnswerViolation"]]
    phase: str
    task_id: NotRequired[str]
    allowed_tools: NotRequired[List[str]]
    next_step: NotRequired[str]
    allowed: NotRequired[Union[Literal[True], Literal[False]]]
    status: NotRequired["TaskStatus"]
    expires_at: NotRequired[Union[str, None]]
    prompt: NotRequired[Union[str, None]]
    warnings: NotRequired[List["Blocker"]]
    artifacts: NotRequired[List["PromptAnswerArtifact"]]
    completed: NotRequired[Literal[True]]
    blockers: NotRequired[List["Blocker"]]
    retry: NotRequired["Retry"]
    interrupt: NotRequired["Interrupt"]
    pending_approval: NotRequired["PendingApproval"]
    pending_consensus: NotRequired["PromptAnswerPendingConsensus"]


class ReleaseAnswer(TypedDict):
    task: "Task"


class ResponseAnswer(TypedDict):
    accepted: bool
    action: NotRequired[str]
    label: NotRequired[str]
    reason: NotRequired[str]
    message: NotRequired[str]
    asked_again: NotRequired[bool]
    stopped: NotRequired[str]
    attempt: int
    max_attempts: int
    round: int
    view: "ParticipantView"


class Retry(TypedDict):
    attempt: int
    max: int
    text: str


class RuleViolationRecentEvent(TypedDict):
    at: str
    text: str


class RuleViolation(TypedDict):
    rule: str
    rule_type: str
    diagnostic: str
    suggestion: str
    metrics_snapshot: Dict[str, Any]
    recent_events: List["RuleViolationRecentEvent"]


class SinceLastApproval(TypedDict):
    approval_id: str
    decision: Literal["approve", "reject", "pending", "approved", "rejected", "expired", "used", "void"]
    comment: str
    by: Union[str, None]
    at: str
    changed_artifacts: List[str]
    changed_paths: Union[List[str], None]


class SnapshotTaskReviewersWanted(TypedDict):
    name: str
    status: Literal["wanted", "registered", "finished"]
    awaited: bool


class SnapshotTask(TypedDict):
    id: str
    title: str
    description: str
    status: "TaskStatus"
    phase: str
    epoch: int
    agent_id: Union[str, None]
    capabilities: List[str]
    contract: "ContractRef"
    depends_on: List[str]
    requires: List[str]
    workspace: str
    worktree: NotRequired["Worktree"]
    completed_phases: List[str]
    lease_expires_at: Union[str, None]
    created_at: str
    updated_at: str
    metadata: Dict[str, Any]
    mode: Union[Literal["strict", "permissive", "advisory"], None]
    priority: int
    visit: int
    refusals: int
    parked_reason: Union[str, None]
    stash: Union[str, None]
    pending_approval: Union["PendingApproval", None]
    open_questions: int
    reviewers_wanted: List["SnapshotTaskReviewersWanted"]
    claimable_at: Union[str, None]
    alerts: List["Alert"]
    checking: bool


class StateSnapshotTaskDependency(TypedDict):
    id: str
    status: str


class StateSnapshotCompletedTask(TypedDict):
    id: str
    title: str
    completed_at: str


class StateSnapshotPhase(TypedDict):
    id: str
    name: str


class StateSnapshotAgent(TypedDict):
    agent_id: Union[str, None]
    task_id: str
    phase: str
    checking: bool
    binding: Union[str, None]
    since: str
    waiting_for_reviewers: NotRequired[List[str]]
    refused_in_a_row: NotRequired[int]


class StateSnapshotEvent(TypedDict):
    seq: int
    type: str
    at: str
    phase: Union[str, None]
    code: Union[str, None]


class StateSnapshotCounts(TypedDict):
    by_status: Dict[str, int]
    active_by_phase: Dict[str, int]


class StateSnapshot(TypedDict):
    task: Union["SnapshotTask", None]
    current_phase: Union[str, None]
    task_dependencies: List["StateSnapshotTaskDependency"]
    completed_tasks: List["StateSnapshotCompletedTask"]
    blockers: List["Blocker"]
    phases: List["StateSnapshotPhase"]
    agents: List["StateSnapshotAgent"]
    events: List["StateSnapshotEvent"]
    next_step: str
    counts: "StateSnapshotCounts"
    truncated: bool


class TaskReviewersWanted(TypedDict):
    name: str
    status: Literal["wanted", "registered", "finished"]
    awaited: bool


class Task(TypedDict):
    id: str
    title: str
    description: str
    status: "TaskStatus"
    phase: str
    epoch: int
    agent_id: Union[str, None]
    capabilities: List[str]
    contract: "ContractRef"
    depends_on: List[str]
    requires: List[str]
    workspace: str
    worktree: NotRequired["Worktree"]
    completed_phases: List[str]
    lease_expires_at: Union[str, None]
    created_at: str
    updated_at: str
    metadata: Dict[str, Any]
    mode: Union[Literal["strict", "permissive", "advisory"], None]
    priority: int
    visit: int
    refusals: int
    parked_reason: Union[str, None]
    stash: Union[str, None]
    pending_approval: Union["PendingApproval", None]
    open_questions: int
    reviewers_wanted: List["TaskReviewersWanted"]
    claimable_at: Union[str, None]
    alerts: List["Alert"]


TaskStatus = Literal["queued", "active", "awaiting_approval", "interrupted", "parked", "completed", "cancelled"]


class ToolAnswer(TypedDict):
    result: Any
    logged: Literal[True]
    decision: Literal["allowed"]
    duration_ms: float
    violation: NotRequired["AllowedViolation"]
    unenforced: NotRequired[List[str]]
    interrupt: NotRequired["Interrupt"]
    advanced: NotRequired["Advanced"]
    advancing: NotRequired[Literal[True]]
    expires_at: NotRequired[Union[str, None]]
    allowed_tools: NotRequired[List[str]]


class ToolCheck(TypedDict):
    allowed: Union[Literal[True], Literal[False]]
    allowed_tools: List[str]
    violation: NotRequired["AllowedViolation"]
    code: NotRequired[str]
    detail: NotRequired[str]
    retry: NotRequired["Retry"]


class TransitionAnswerArtifact(TypedDict):
    type: str
    sha256: str
    bytes: int
    grade: "Grade"
    self_review: NotRequired[bool]
    phase: str


class TransitionAnswer(TypedDict):
    allowed: Literal[True]
    phase: str
    status: "TaskStatus"
    expires_at: Union[str, None]
    allowed_tools: List[str]
    prompt: Union[str, None]
    warnings: List["Blocker"]
    artifacts: List["TransitionAnswerArtifact"]
    violation: NotRequired["AllowedViolation"]
    completed: NotRequired[Literal[True]]


class UsageAnswerTokens(TypedDict):
    input: int
    output: int
    cache_read: int
    cache_write: int


class UsageAnswer(TypedDict):
    tokens: "UsageAnswerTokens"
    usage: Literal["observed", "reported", "none"]
    interrupt: NotRequired["Interrupt"]


class Worktree(TypedDict):
    repository: str
    branch: str
    base: str
    into: Union[str, None]
    status: Literal["open", "merged", "handed_over", "discarded"]
    commit: Union[str, None]


class File(TypedDict):
    path: str
    content: str


class Edit(TypedDict):
    old: str
    new: str
    replace_all: NotRequired[bool]
