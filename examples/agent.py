"""An agent that takes one task of the bundled contract `tdd` through all five phases. A human approves its plan.

PHASELOCK_URL=http://localhost:8000 PHASELOCK_TOKEN=… PHASELOCK_AGENT_ID=coder python3 examples/agent.py
"""

from orchestrator_agent_sdk import AgentClient, TransitionBlocked

PLAN = {
    "title": "Say goodbye by name",
    "acceptance_criteria": [
        {"id": "AC1", "criterion": "goodbye(name) carries the name", "how_to_verify": "a unit test"}
    ],
    "implementation_steps": ["write the test", "write goodbye()"],
    "scope": {"in_scope": ["goodbye()"], "out_of_scope": ["other languages"]},
}
TEST = """import assert from 'node:assert/strict'
import { test } from 'node:test'
import { goodbye } from '../src/goodbye.js'
test('a goodbye carries the name', () => assert.equal(goodbye('Ada'), 'Goodbye, Ada!'))
"""
CODE = "export const goodbye = (name) => 'Goodbye, ' + name + '!'\n"
CHANGED = [{"path": "src/goodbye.js", "change_type": "created"}]


def enter(client: AgentClient, phase: str, **artifacts: object) -> None:
    """Leaves the phase, and waits for the human where one has to agree."""
    try:
        client.request_transition(phase, artifacts)
    except TransitionBlocked as blocked:
        if blocked.pending_approval is None:
            raise
        print(f"waiting for approval {blocked.pending_approval['id']}", flush=True)
        client.wait_for_approval()
        client.request_transition(phase, artifacts)
    print(client.phase or "done", flush=True)


with AgentClient.from_env() as client:
    task = client.claim_task()["task"]
    print(f"{task['id']}: {task['title']}", flush=True)
    enter(client, "TDD", plan_document=PLAN)
    # A test that fails, because there is nothing to test yet. Phaselock runs it itself.
    client.use_tool("write_files", path="tests/goodbye.test.js", content=TEST)
    enter(client, "IMPL", test_files={"test_files": [{"path": "tests/goodbye.test.js", "covers": ["AC1"]}]})
    client.use_tool("write_files", path="src/goodbye.js", content=CODE)
    enter(client, "REVIEW", implementation_files={"files_changed": CHANGED, "summary": "goodbye() by name"})
    enter(client, "COMPLETE", review_report={"reviews": {"self": {"status": "completed"}}, "blocking_issues": []})
    client.use_tool("git_commit", message="Say goodbye by name")
    enter(client, "COMPLETE", completion_summary={"summary": "goodbye() is there", "files_changed": ["src/goodbye.js"]})
