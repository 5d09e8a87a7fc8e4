"""An agent with the OpenAI Agents SDK. Its tools are those of Phaselock, over MCP: each call is decided in the phase of the task.

pip install openai-agents
PHASELOCK_URL=http://localhost:8000 PHASELOCK_TOKEN=… OPENAI_API_KEY=… MODEL=… python3 openai_agents.py
"""

import asyncio
import os

from agents import Agent, Runner, set_tracing_disabled
from agents.mcp import MCPServerStreamableHttp

AGAIN = "Look at the state of the task, and go on until it is completed."


async def main() -> None:
    headers = {"Authorization": f"Bearer {os.environ['PHASELOCK_TOKEN']}"}
    params = {"url": f"{os.environ['PHASELOCK_URL']}/mcp", "headers": headers, "timeout": 3600}
    async with MCPServerStreamableHttp(params, client_session_timeout_seconds=3600) as phaselock:

        async def call(name: str) -> dict:
            """Calls a tool of Phaselock from here, and not from the model."""
            return (await phaselock.call_tool(name, {})).structuredContent or {}

        claimed = await call("claim_task")
        task = claimed["task"]
        print(f"{task['id']}: {task['title']}", flush=True)
        agent = Agent(name="coder", model=os.environ["MODEL"], mcp_servers=[phaselock])
        first = f"{task['title']}\n\nThe task is in phase {claimed['phase']}.\n\n{claimed['prompt']}"
        items: list = [{"role": "user", "content": first}]
        state = {"status": "active"}
        while state.get("status") == "active":
            result = await Runner.run(agent, items, max_turns=100)
            state = await call("get_workflow_state")
            while state.get("status") == "awaiting_approval":
                await asyncio.sleep(1)
                state = await call("get_workflow_state")
            items = [*result.to_input_list(), {"role": "user", "content": AGAIN}]
        print("done")


set_tracing_disabled(True)
asyncio.run(main())
