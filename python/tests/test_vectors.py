"""The shared vectors, played by both clients for Python.

``PHASELOCK_STAGE`` is the address of a stage that has a real server, and that does what an operator, a clock or a bad
network does. ``PHASELOCK_VECTORS`` is the file with the vectors.
"""

import asyncio
import http.client
import json
import os
import time
import unittest
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import urlsplit

import orchestrator_agent_sdk as sdk

STAGE = os.environ["PHASELOCK_STAGE"]
with open(os.environ["PHASELOCK_VECTORS"], encoding="utf-8") as file:
    FILE = json.load(file)

PYTHON_NAMES = {"continue": "continue_"}
# Most of a scenario is waiting, and each has a scene of its own.
AT_ONCE_MAX = 8


def on_stage(**asked):
    """Asks the stage for something."""
    parts = urlsplit(STAGE)
    connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=60)
    connection.request("POST", "/", json.dumps(asked), {"content-type": "application/json"})
    answer = json.loads(connection.getresponse().read())
    connection.close()
    if "failed" in answer:
        raise AssertionError(answer["failed"])
    return answer


def difference(wanted, found, at="$"):
    """Why what was found is not what was wanted; None when it is. Objects may have more than is wanted of them."""
    if isinstance(wanted, dict):
        if not isinstance(found, dict):
            return f"{at}: wanted an object, found {found!r}"
        for name, value in wanted.items():
            told = difference(value, found.get(name), f"{at}.{name}")
            if told is not None:
                return told
        return None
    if isinstance(wanted, list):
        if not isinstance(found, list) or len(found) != len(wanted):
            return f"{at}: wanted {len(wanted)} items, found {found!r}"
        told = [difference(*pair, f"{at}[{index}]") for index, pair in enumerate(zip(wanted, found))]
        return next((one for one in told if one is not None), None)
    return None if wanted == found else f"{at}: wanted {wanted!r}, found {found!r}"


class Player:
    """One scenario. ``wait`` turns what a call gives into its result."""

    def __init__(self, test, vector, make):
        self.test = test
        self.vector = vector
        self.make = make
        self.scene = on_stage(do="scene", contract=vector["contract"], server=vector.get("server", "shared"))
        self.saved = {"scene": self.scene, **FILE["values"]}
        self.clients = {}
        self.tokens = []
        self.open("main", {})

    def open(self, name, about):
        token = self.filled(about.get("token", self.scene["token"]))
        url = self.scene["socket_url"] if self.vector.get("via") == "socket" else self.scene["url"] + "/"
        agent_id = about.get("agent_id", self.scene["agent_id"])
        self.tokens.append(token)
        self.clients[name] = self.make(url, token, agent_id, **self.vector.get("options", {}))

    def filled(self, value):
        if isinstance(value, str) and value.startswith("$"):
            found = self.saved
            for part in value[1:].split("."):
                found = found[part]
            return found
        if isinstance(value, list):
            return [self.filled(one) for one in value]
        if isinstance(value, dict):
            return {name: self.filled(one) for name, one in value.items()}
        return value

    def on_stage(self, **asked):
        return on_stage(scene=self.scene["task_id"], **asked)

    def matches(self, wanted, found, at):
        told = difference(self.filled(wanted), found)
        self.test.assertIsNone(told, f"{at}: {told}")

    def judge(self, step, at, outcome, seconds):
        answer, error = outcome
        if "takes_seconds" in step:
            low, high = step["takes_seconds"]
            self.test.assertTrue(low < seconds < high, f"{at}: took {seconds}")
        if "stage" not in step:
            shown = repr((answer, error, str(error), getattr(error, "__dict__", None), list(self.clients.values())))
            for token in self.tokens:
                self.test.assertNotIn(token, shown, at)
        if "raises" in step:
            self.raised(step["raises"], error, f"{at}: {answer!r} {error!r}")
        elif error is not None:
            raise error
        if "expect" in step:
            self.matches(step["expect"], answer, at)
        if "lacks" in step:
            self.test.assertNotIn(f'"{step["lacks"]}"', json.dumps(answer), at)
        if "types" in step:
            types = [event.type for event in answer if event.type in step["types"]]
            self.test.assertEqual(types, step["types"], at)
            ids = [event.id for event in answer]
            self.test.assertEqual(ids, sorted(set(ids)), at)
        if "save" in step:
            self.saved[step["save"]] = vars(error) if answer is None else answer

    def raised(self, wanted, error, at):
        self.test.assertIsInstance(error, sdk.PhaselockError, at)
        fields = {name: value for name, value in wanted.items() if name != "error"}
        if wanted["error"] != "*":
            self.test.assertEqual(type(error).__name__, wanted["error"], at)
        self.matches(fields, {**vars(error), "message": str(error)}, at)

    def state(self, step, at):
        client = self.clients[step.get("on", "main")]
        found = {"phase": client.phase, "task_id": client.task_id, "allowed_tools": client.allowed_tools}
        self.matches(step["state"], found, at)

    def prepared(self, step):
        """The call of a step, with its arguments."""
        client = self.clients[step.get("on", "main")]
        name = PYTHON_NAMES.get(step["call"], step["call"])
        return getattr(client, name), self.filled(step.get("args", [])), self.filled(step.get("options", {}))


def play(test, vector):
    player = Player(test, vector, sdk.AgentClient)
    try:
        for index, step in enumerate(vector["steps"]):
            at = f"step {index}"
            if "client" in step:
                player.open(step["client"], step)
            elif "state" in step:
                player.state(step, at)
            else:
                began = time.monotonic()
                player.judge(step, at, outcome(player, step), time.monotonic() - began)
    finally:
        for client in player.clients.values():
            client.close()
        player.on_stage(do="leave")


def outcome(player, step):
    try:
        if "stage" in step:
            return player.on_stage(**player.filled(step["stage"])), None
        if "follow" in step:
            return followed(player.clients[step.get("on", "main")], step["follow"]), None
        call, args, options = player.prepared(step)
        return call(*args, **options), None
    except sdk.PhaselockError as error:
        return None, error


def followed(client, wanted):
    found = []
    for event in client.events(after=wanted.get("after")):
        found.append(event)
        if event.type == wanted.get("until") or len(found) == wanted.get("take"):
            break
    return found


async def play_async(test, vector):
    player = Player(test, vector, sdk.AsyncAgentClient)
    try:
        for index, step in enumerate(vector["steps"]):
            at = f"step {index}"
            if "client" in step:
                player.open(step["client"], step)
            elif "state" in step:
                player.state(step, at)
            else:
                began = time.monotonic()
                player.judge(step, at, await outcome_async(player, step), time.monotonic() - began)
    finally:
        for client in player.clients.values():
            await client.close()
        player.on_stage(do="leave")


async def outcome_async(player, step):
    try:
        if "stage" in step:
            asked = player.filled(step["stage"])
            return await asyncio.get_running_loop().run_in_executor(None, lambda: player.on_stage(**asked)), None
        if "follow" in step:
            return await followed_async(player.clients[step.get("on", "main")], step["follow"]), None
        call, args, options = player.prepared(step)
        return await call(*args, **options), None
    except sdk.PhaselockError as error:
        return None, error


async def followed_async(client, wanted):
    found = []
    events = client.events(after=wanted.get("after"))
    async for event in events:
        found.append(event)
        if event.type == wanted.get("until") or len(found) == wanted.get("take"):
            break
    await events.aclose()
    return found


class Vectors(unittest.TestCase):
    """All scenarios are begun at once; each test tells what became of one."""

    @classmethod
    def setUpClass(cls):
        cls.pool = ThreadPoolExecutor(AT_ONCE_MAX)
        cls.played = {named(one): cls.pool.submit(cls.play, unittest.TestCase(), one) for one in FILE["vectors"]}

    @classmethod
    def tearDownClass(cls):
        cls.pool.shutdown()


class WithoutAsyncio(Vectors):
    play = staticmethod(play)


class WithAsyncio(Vectors):
    play = staticmethod(lambda test, vector: asyncio.run(play_async(test, vector)))


def named(vector):
    words = "".join(one if one.isalnum() else "_" for one in vector["name"])
    return f"test_{vector['req'].replace('-', '_')}_{words}"


for one in FILE["vectors"]:
    for kind in (WithoutAsyncio, WithAsyncio):
        setattr(kind, named(one), lambda self, name=named(one): self.played[name].result())


if __name__ == "__main__":
    unittest.main()
