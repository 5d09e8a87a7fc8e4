"""What the server answers. Generated from the routes and tools of the server by `npm run generate:api`; not to be edited.

Answers of newer servers may have more fields than these.
"""

from __future__ import annotations

from typing import Any, Dict, List, Literal, TypedDict, Union


class Advanced(TypedDict):
    phase: str
    status: "TaskStatus"
    warnings: List["Blocker"]
    expires_at: Union[str, None]
    allowed_tools: List[str]
    prompt: Union[str, None]


class _AgentContractPhase(TypedDict):
    id: str
    name: str


class AgentContractPhase(_AgentContractPhase, total=False):
    description: str
    allowed_tools: List[str]
    required_artifacts: List["AgentContractPhaseRequiredArtifact"]
    evidence: List["AgentContractPhaseEvidence"]
    gates: List["AgentContractPhaseGate"]


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


class _ApprovalAnswer(TypedDict):
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


class ApprovalAnswer(_ApprovalAnswer, total=False):
    waiting_seconds: int
    covers: "ApprovalAnswerCovers"
    outdated: bool
    diff: "ApprovalDiff"
    checks: List["ApprovalCheck"]
    refusals: List["PastRefusal"]
    since_last: Union["SinceLastApproval", None]


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


class _Artifact(TypedDict):
    type: str
    sha256: str
    bytes: int
    grade: "Grade"


class Artifact(_Artifact, total=False):
    self_review: bool


class _BatchAnswerResult(TypedDict):
    tool_name: str


class BatchAnswerResult(_BatchAnswerResult, total=False):
    result: Union[Any, None]
    logged: Literal[True]
    decision: Literal["allowed"]
    duration_ms: float
    violation: "AllowedViolation"
    unenforced: List[str]
    interrupt: "Interrupt"
    advanced: "Advanced"
    advancing: Literal[True]
    expires_at: Union[str, None]
    allowed_tools: List[str]
    checking: Literal[True]
    task_id: str
    phase: str
    next_step: str
    error: "BatchAnswerResultError"


class BatchAnswerResultError(TypedDict):
    code: str
    detail: str


class _BatchAnswer(TypedDict):
    results: List["BatchAnswerResult"]


class BatchAnswer(_BatchAnswer, total=False):
    advanced: "Advanced"
    advancing: Literal[True]
    expires_at: Union[str, None]
    allowed_tools: List[str]


class BatchErrorError(TypedDict):
    code: str
    detail: str


class BatchError(TypedDict):
    tool_name: str
    error: "BatchErrorError"


class _BatchResult(TypedDict):
    tool_name: str
    result: Any
    logged: Literal[True]
    decision: Literal["allowed"]
    duration_ms: float


class BatchResult(_BatchResult, total=False):
    violation: "AllowedViolation"
    unenforced: List[str]
    interrupt: "Interrupt"
    advanced: "Advanced"
    advancing: Literal[True]
    expires_at: Union[str, None]
    allowed_tools: List[str]


class _BatchRunning(TypedDict):
    tool_name: str
    checking: Literal[True]
    decision: Literal["allowed"]
    result: None
    logged: Literal[True]
    task_id: str
    phase: str
    next_step: str


class BatchRunning(_BatchRunning, total=False):
    allowed_tools: List[str]


class BlockerRun(TypedDict):
    cause: str
    mended_by: str
    remedy: str
    last_lines: List[str]


class _Blocker(TypedDict):
    code: str
    gate: Union[str, None]
    check: Union[str, None]
    artifact: Union[str, None]
    message: str
    remedy: str
    severity: Literal["blocking", "warning", "info"]


class Blocker(_Blocker, total=False):
    grade: "Grade"
    run: "BlockerRun"


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


class _CompletionAnswer(TypedDict):
    checkpoint_passed: bool
    allowed_tools: List[str]


class CompletionAnswer(_CompletionAnswer, total=False):
    missing_evidence: List[str]
    phase_completed: Union[str, int]
    status: "TaskStatus"
    warnings: List["Blocker"]
    next_phase: Union[str, int]
    next_phase_content: Union["PhaseContent", None]
    tasks: "CompletionAnswerTasks"
    artifacts_available: Dict[str, Dict[str, Any]]
    expires_at: Union[str, Union[str, None]]
    workflow_complete: Literal[True]
    message: str
    current_phase: Union[str, int]
    current_phase_content: Union["PhaseContent", None]
    retry: "Retry"
    task_id: str
    phase: str
    next_step: str
    error: Literal["incomplete_checkpoint", "rule_interrupt"]
    required_format: Dict[str, "EvidenceField"]
    examples: Dict[str, Any]
    blockers: List["Blocker"]
    interrupt: "Interrupt"
    pending_approval: "PendingApproval"


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


class _EvidenceField(TypedDict):
    type: str
    description: str
    required: bool
    grade: str


class EvidenceField(_EvidenceField, total=False):
    min: float
    max: float
    above: float
    min_length: int
    pattern: str
    enum: List[Any]
    must_be: Any
    may_be_false: bool
    rules: List[str]
    source: str


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


class _KnowledgeAnswer(TypedDict):
    results: List["KnowledgeAnswerResult"]
    total_tokens: int
    retrieval_method: Literal["hybrid", "lexical"]
    query_time_ms: float
    index_version: int


class KnowledgeAnswer(_KnowledgeAnswer, total=False):
    degraded: Literal[True]
    hint: str


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


class _PhaseAnswerCheckpointCriteria(TypedDict):
    required_evidence: Dict[str, "EvidenceField"]


class PhaseAnswerCheckpointCriteria(_PhaseAnswerCheckpointCriteria, total=False):
    min_verified: int


class _PhaseAnswer(TypedDict):
    phase_number: Union[str, int]
    phase_content: "PhaseContent"
    artifacts_from_previous: Dict[str, Dict[str, Any]]
    checkpoint_criteria: "PhaseAnswerCheckpointCriteria"


class PhaseAnswer(_PhaseAnswer, total=False):
    tasks: "PhaseAnswerTasks"


class PhaseContent(TypedDict):
    content: str
    sources: List[str]
    total_tokens: int


class PromptAnswerViolation(TypedDict, total=False):
    rule: str
    rule_type: str
    diagnostic: str
    suggestion: str
    metrics_snapshot: Dict[str, Any]
    recent_events: List["PromptAnswerViolationRecentEvent"]
    code: str
    detail: str


class PromptAnswerViolationRecentEvent(TypedDict):
    at: str
    text: str


class _PromptAnswerArtifact(TypedDict):
    type: str
    sha256: str
    bytes: int
    grade: "Grade"
    phase: str


class PromptAnswerArtifact(_PromptAnswerArtifact, total=False):
    self_review: bool


class PromptAnswerPendingConsensus(TypedDict):
    id: str


class _PromptAnswer(TypedDict):
    kind: Literal["prompt", "interrupt"]
    text: str
    phase: str


class PromptAnswer(_PromptAnswer, total=False):
    violation: "PromptAnswerViolation"
    task_id: str
    allowed_tools: List[str]
    next_step: str
    allowed: Union[Literal[True], Literal[False]]
    status: "TaskStatus"
    expires_at: Union[str, None]
    prompt: Union[str, None]
    warnings: List["Blocker"]
    artifacts: List["PromptAnswerArtifact"]
    completed: Literal[True]
    blockers: List["Blocker"]
    retry: "Retry"
    interrupt: "Interrupt"
    pending_approval: "PendingApproval"
    pending_consensus: "PromptAnswerPendingConsensus"


class ReleaseAnswer(TypedDict):
    task: "Task"


class _ResponseAnswer(TypedDict):
    accepted: bool
    attempt: int
    max_attempts: int
    round: int
    view: "ParticipantView"


class ResponseAnswer(_ResponseAnswer, total=False):
    action: str
    label: str
    reason: str
    message: str
    asked_again: bool
    stopped: str


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


class _SnapshotTask(TypedDict):
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


class SnapshotTask(_SnapshotTask, total=False):
    worktree: "Worktree"


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


class _StateSnapshotAgent(TypedDict):
    agent_id: Union[str, None]
    task_id: str
    phase: str
    checking: bool
    binding: Union[str, None]
    since: str


class StateSnapshotAgent(_StateSnapshotAgent, total=False):
    waiting_for_reviewers: List[str]
    refused_in_a_row: int


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


class _Task(TypedDict):
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


class Task(_Task, total=False):
    worktree: "Worktree"


TaskStatus = Literal["queued", "active", "awaiting_approval", "interrupted", "parked", "completed", "cancelled"]


class _ToolAnswer(TypedDict):
    result: Any
    logged: Literal[True]
    decision: Literal["allowed"]
    duration_ms: float


class ToolAnswer(_ToolAnswer, total=False):
    violation: "AllowedViolation"
    unenforced: List[str]
    interrupt: "Interrupt"
    advanced: "Advanced"
    advancing: Literal[True]
    expires_at: Union[str, None]
    allowed_tools: List[str]


class _ToolCheck(TypedDict):
    allowed: Union[Literal[True], Literal[False]]
    allowed_tools: List[str]


class ToolCheck(_ToolCheck, total=False):
    violation: "AllowedViolation"
    code: str
    detail: str
    retry: "Retry"


class _TransitionAnswerArtifact(TypedDict):
    type: str
    sha256: str
    bytes: int
    grade: "Grade"
    phase: str


class TransitionAnswerArtifact(_TransitionAnswerArtifact, total=False):
    self_review: bool


class _TransitionAnswer(TypedDict):
    allowed: Literal[True]
    phase: str
    status: "TaskStatus"
    expires_at: Union[str, None]
    allowed_tools: List[str]
    prompt: Union[str, None]
    warnings: List["Blocker"]
    artifacts: List["TransitionAnswerArtifact"]


class TransitionAnswer(_TransitionAnswer, total=False):
    violation: "AllowedViolation"
    completed: Literal[True]


class UsageAnswerTokens(TypedDict):
    input: int
    output: int
    cache_read: int
    cache_write: int


class _UsageAnswer(TypedDict):
    tokens: "UsageAnswerTokens"
    usage: Literal["observed", "reported", "none"]


class UsageAnswer(_UsageAnswer, total=False):
    interrupt: "Interrupt"


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


class _Edit(TypedDict):
    old: str
    new: str


class Edit(_Edit, total=False):
    replace_all: bool
