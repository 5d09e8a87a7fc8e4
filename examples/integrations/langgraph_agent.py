"""An agent with LangGraph. Its tools are those of Phaselock, over MCP: each call is decided in the phase of the task.

pip install langchain langgraph langchain-openai langchain-mcp-adapters
PHASELOCK_URL=http://localhost:8000 PHASELOCK_TOKEN=… OPENAI_API_KEY=… MODEL=… python3 langgraph_agent.py
"""

import asyncio
import os

from langchain.agents import create_agent
from langchain_mcp_adapters.client import MultiServerMCPClient
from langchain_openai import ChatOpenAI

AGAIN = "Look at the state of the task, and go on until it is completed."


async def main() -> None:
    headers = {"Authorization": f"Bearer {os.environ['PHASELOCK_TOKEN']}"}
    url = f"{os.environ['PHASELOCK_URL']}/mcp"
    client = MultiServerMCPClient({"phaselock": {"transport": "streamable_http", "url": url, "headers": headers}})
    tools = await client.get_tools()

    async def call(name: str) -> dict:
        """Calls a tool of Phaselock from here, and not from the model."""
        async with client.session("phaselock") as phaselock:
            return (await phaselock.call_tool(name, {})).structuredContent or {}

    claimed = await call("claim_task")
    task = claimed["task"]
    print(f"{task['id']}: {task['title']}", flush=True)
    agent = create_agent(ChatOpenAI(model=os.environ["MODEL"]), tools)
    first = f"{task['title']}\n\nThe task is in phase {claimed['phase']}.\n\n{claimed['prompt']}"
    messages: list = [{"role": "user", "content": first}]
    state = {"status": "active"}
    while state.get("status") == "active":
        result = await agent.ainvoke({"messages": messages}, {"recursion_limit": 200})
        state = await call("get_workflow_state")
        while state.get("status") == "awaiting_approval":
            await asyncio.sleep(1)
            state = await call("get_workflow_state")
        messages = [*result["messages"], {"role": "user", "content": AGAIN}]
    print("done")


asyncio.run(main())
