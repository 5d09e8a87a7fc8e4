"""What needs no real server: addresses, tokens, answers that are none, and ending."""

import asyncio
import base64
import http.server
import json
import os
import pickle
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest

import orchestrator_agent_sdk as sdk

SIGNATURE = "s" * 43


def token(**claims):
    """A token as the server makes them, which nobody could have signed."""

    def part(value):
        return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")

    return f"{part({'alg': 'HS256'})}.{part(claims)}.{SIGNATURE}"


AGENT = token(sub="coder", instance="i")


def claim():
    """The answer to a claim, from a server that knows nothing else."""
    now = int(time.time())
    phase_token = token(sub="coder", task_id="t", phase="PLAN", epoch=1, iat=now, exp=now + 7200)
    task = {"id": "t", "lease_expires_at": "2026-01-01T00:15:00.000Z", "updated_at": "2026-01-01T00:00:00.000Z"}
    answer = {"task": task, "phase": "PLAN", "phase_token": phase_token, "allowed_tools": [], "prompt": "x"}
    return json.dumps(answer).encode()


class RawServer:
    """Answers each connection with what it is told, byte for byte."""

    def __init__(self, answers, path=None):
        self.socket = socket.socket(socket.AF_INET if path is None else socket.AF_UNIX)
        self.socket.bind(("127.0.0.1", 0) if path is None else path)
        self.socket.listen()
        self.requests = []
        self.held = []
        self.answers = answers
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.socket.getsockname()[1]}"

    def run(self):
        for answer in self.answers:
            try:
                connection, _ = self.socket.accept()
            except OSError:
                return
            self.requests.append(read_request(connection))
            if answer is None:
                self.held.append(connection)
                continue
            if callable(answer):
                self.held.append(connection)
                answer(connection)
                continue
            connection.sendall(answer)
            connection.close()

    def close(self):
        # Wakes the thread first: a socket that is closed under it would leave it waiting on the next one of that number.
        try:
            self.socket.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
        self.thread.join(10)
        self.socket.close()
        for connection in self.held:
            connection.close()


def read_request(connection):
    """Whole: a connection that is closed before everything was read loses its answer."""
    text = b""
    while b"\r\n\r\n" not in text:
        text += connection.recv(65536)
    head, _, body = text.partition(b"\r\n\r\n")
    length = [line.split(b":")[1] for line in head.lower().split(b"\r\n") if line.startswith(b"content-length")]
    while length and len(body) < int(length[0]):
        body += connection.recv(65536)
    return head.decode() + "\r\n"


def whole(body, status="200 OK", length=None):
    size = len(body) if length is None else length
    return f"HTTP/1.1 {status}\r\ncontent-length: {size}\r\n\r\n".encode() + body


def chunked(body, ends=True):
    head = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n"
    parts = b"".join(b"%x\r\n%s\r\n" % (len(one), one) for one in (body[:7], body[7:]))
    return head + parts + (b"0\r\n\r\n" if ends else b"")


def begun(connection):
    """The beginning of a stream in which nothing happens."""
    connection.sendall(chunked(b": nothing yet\n\n", ends=False))


class Trickled:
    """An answer that never ends, and never stands still."""

    def __init__(self, pause_seconds):
        self.pause_seconds = pause_seconds
        self.read_to_the_end = 0

    def __call__(self, connection):
        until = time.monotonic() + 15
        try:
            connection.sendall(b"HTTP/1.1 200 OK\r\ncontent-length: 999999999\r\n\r\n")
            while time.monotonic() < until:
                connection.sendall(b" ")
                time.sleep(self.pause_seconds)
            self.read_to_the_end += 1
        except OSError:
            return


class Both(unittest.TestCase):
    """Each test is run with both clients."""

    def both(self, work):
        """``work(call, make)``: makes a client and calls it, whichever it is."""

        with self.subTest("without asyncio"):
            work(lambda client, name, *args, **options: getattr(client, name)(*args, **options), sdk.AgentClient)
        with self.subTest("with asyncio"):
            loop = asyncio.new_event_loop()
            asyncio.set_event_loop(loop)
            try:
                work(
                    lambda client, name, *args, **options: loop.run_until_complete(
                        getattr(client, name)(*args, **options)
                    ),
                    sdk.AsyncAgentClient,
                )
            finally:
                asyncio.set_event_loop(None)
                loop.close()

    def serve(self, answers, path=None):
        server = RawServer(answers, path)
        self.addCleanup(server.close)
        return server

    def test_every_way_to_write_an_address_leads_to_the_api(self):
        for suffix, path in [
            ("", "/api/v1"),
            ("/", "/api/v1"),
            ("///  ", "/api/v1"),
            ("/api/v1/", "/api/v1"),
            ("/behind/a/proxy/", "/behind/a/proxy/api/v1"),
        ]:

            def work(call, make, suffix=suffix, path=path):
                server = self.serve([whole(claim())])
                client = make(server.url + suffix, AGENT, heartbeat=False)
                self.assertEqual(call(client, "claim_task")["phase"], "PLAN")
                self.assertTrue(server.requests[0].startswith(f"POST {path}/tasks/claim HTTP/1.1\r\n"))
                self.assertEqual(client.agent_id, "coder")

            self.both(work)

    def test_both_ways_to_write_a_socket_are_read(self):
        def work(call, make):
            with tempfile.TemporaryDirectory() as folder:
                path = os.path.join(folder, "a.sock")
                server = self.serve([whole(claim())] * 2, path)
                for url in (f"unix://{path}/", "http+unix://" + path.replace("/", "%2F")):
                    self.assertEqual(call(make(url, AGENT, heartbeat=False), "claim_task")["phase"], "PLAN")
                self.assertIn("host: localhost\r\n", server.requests[0].lower())

        self.both(work)

    def test_an_address_that_cannot_be_used_is_refused_without_repeating_it(self):
        for url in [
            *("not a url", "ftp://localhost", "http://user:hunter2@localhost", "http://localhost?x=hunter2"),
            *("unix://relative.sock", "unix://", "", "http://localhost:99999999", "http://", "http://a\nb"),
        ]:
            for make in (sdk.AgentClient, sdk.AsyncAgentClient):
                with self.assertRaises(sdk.InvalidOptions) as caught:
                    make(url, AGENT)
                self.assertNotIn("hunter2", str(caught.exception))

    def test_a_variable_that_is_missing_is_named(self):
        for make in (sdk.AgentClient, sdk.AsyncAgentClient):
            with self.assertRaisesRegex(sdk.InvalidOptions, "PHASELOCK_URL is not set"):
                make.from_env({})
            given = {"PHASELOCK_URL": "http://localhost:1/", "PHASELOCK_TOKEN": AGENT}
            with self.assertRaisesRegex(sdk.InvalidOptions, "PHASELOCK_TOKEN is not set"):
                make.from_env({**given, "PHASELOCK_TOKEN": " "})
            self.assertEqual(make.from_env(given).agent_id, "coder")
            self.assertEqual(make.from_env({**given, "PHASELOCK_AGENT_ID": "other"}).agent_id, "other")

    def test_a_token_that_cannot_stand_in_a_header_is_refused_without_repeating_it(self):
        for bad in ["", "two words", "hunter2\r\nx-other: 1", "hunter2\u00e9", "h" * 8193, "hunter2\n", None, 7]:
            for make in (sdk.AgentClient, sdk.AsyncAgentClient):
                with self.assertRaises(sdk.InvalidOptions) as caught:
                    make("http://localhost:1", bad)
                self.assertNotIn("hunter2", repr(caught.exception))

    def test_neither_the_client_nor_what_it_gives_or_raises_shows_a_token(self):
        def work(call, make):
            echo = json.dumps({"code": "x", "detail": f"Bearer {AGENT}"}).encode()
            server = self.serve([whole(claim()), whole(echo, "400 Bad Request")])
            client = make(server.url, AGENT, heartbeat=False)
            given = call(client, "claim_task")
            with self.assertRaises(sdk.ApiError) as caught:
                call(client, "get_state_snapshot")
            shown = repr((client, given, vars(caught.exception), vars(client._core), vars(client._core.session)))
            self.assertNotIn(SIGNATURE, shown)
            with self.assertRaises(TypeError):
                pickle.dumps(client._core.token)

        self.both(work)

    def test_an_answer_that_is_cut_off_is_asked_for_again(self):
        for cut in (whole(b'{"a": 1}', length=999), chunked(b'{"a": 12345678}', ends=False), b"", b"HTTP/1.1 200"):

            def work(call, make, cut=cut):
                server = self.serve([cut, chunked(claim())])
                client = make(server.url, AGENT, heartbeat=False)
                self.assertEqual(call(client, "claim_task")["phase"], "PLAN")
                keys = [one.lower().split("idempotency-key: ")[1].split("\r\n")[0] for one in server.requests]
                self.assertEqual(len(keys), 2)
                self.assertEqual(keys[0], keys[1])

            self.both(work)

    def test_something_else_than_json_is_told_from_a_refusal(self):
        def work(call, make):
            client = make(self.serve([whole(b"<h1>Welcome</h1>")]).url, AGENT)
            with self.assertRaises(sdk.ApiError) as caught:
                call(client, "claim_task")
            self.assertEqual(caught.exception.code, "unreadable_answer")

        self.both(work)

    def test_something_that_is_nested_too_deeply_is_no_answer(self):
        deep = b"[" * 100_000 + b"]" * 100_000
        for answer, status in [
            (whole(deep), 200),
            (whole(b'{"a": ' * 100_000 + b"1" + b"}" * 100_000), 200),
            (whole(b'{"code": "x", "detail": ' + deep + b"}", "400 Bad Request"), 400),
            (whole(b'{"task": NaN}'), 200),
        ]:

            def work(call, make, answer=answer, status=status):
                client = make(self.serve([answer]).url, AGENT)
                with self.assertRaises(sdk.ApiError) as caught:
                    call(client, "claim_task")
                self.assertEqual((caught.exception.code, caught.exception.status), ("unreadable_answer", status))

            self.both(work)

    def test_a_length_that_nobody_can_count_is_no_fault_of_the_client(self):
        for length in [b"9" * 5000, b"-1", b"1e3", "\u0663".encode()]:
            answer = b"HTTP/1.1 200 OK\r\nContent-Length: " + length + b"\r\n\r\n{}"

            def work(call, make, answer=answer):
                client = make(self.serve([answer] * 9).url, AGENT, attempts_max=2, heartbeat=False)
                try:
                    call(client, "claim_task")
                except sdk.PhaselockError:
                    pass

            self.both(work)

    def test_a_token_that_says_nothing_readable_of_itself_is_kept_all_the_same(self):
        payload = base64.urlsafe_b64encode(b"[" * 6000).decode()
        answer = json.dumps({"task": 1, "phase": "PLAN", "phase_token": f"a.{payload}.b", "allowed_tools": 7}).encode()

        def work(call, make):
            client = make(self.serve([whole(answer)]).url, AGENT, heartbeat=False)
            self.assertEqual(call(client, "claim_task"), {"task": 1, "phase": "PLAN", "allowed_tools": 7})
            self.assertEqual((client.phase, client.allowed_tools), ("PLAN", []))

        self.both(work)

    def test_an_answer_that_never_ends_is_given_up(self):
        for pause_seconds in (0.05, 0):
            trickled = Trickled(pause_seconds)

            def work(call, make, trickled=trickled):
                client = make(self.serve([trickled] * 9).url, AGENT, call_seconds_max=0.5)
                with self.assertRaises(sdk.Unreachable):
                    call(client, "claim_task")
                self.assertEqual(trickled.read_to_the_end, 0)

            self.both(work)

    def test_a_server_that_never_answers_is_given_up(self):
        def work(call, make):
            client = make(self.serve([None] * 9).url, AGENT, call_seconds_max=0.5)
            with self.assertRaises(sdk.Unreachable):
                call(client, "claim_task")

        self.both(work)


class Closing(unittest.TestCase):
    def test_closing_ends_what_waits_in_another_thread(self):
        server = RawServer([None] * 9)
        self.addCleanup(server.close)
        client = sdk.AgentClient(server.url, AGENT)
        threading.Timer(0.3, client.close).start()
        with self.assertRaisesRegex(sdk.PhaselockError, "the client is closed"):
            client.claim_task()

    def test_closing_ends_what_waits_in_another_task(self):
        server = RawServer([None] * 9)
        self.addCleanup(server.close)

        async def main():
            async with sdk.AsyncAgentClient(server.url, AGENT) as client:
                waiting = asyncio.ensure_future(client.claim_task())
                await asyncio.sleep(0.3)
            with self.assertRaisesRegex(sdk.PhaselockError, "the client is closed"):
                await waiting

        asyncio.run(main())

    def test_closing_ends_a_stream_that_is_waited_for(self):
        server = RawServer([whole(claim())] + [whole(b"{}", "503 Busy")] * 9)
        self.addCleanup(server.close)
        client = sdk.AgentClient(server.url, AGENT, heartbeat=False)
        client.claim_task()
        threading.Timer(0.25, client.close).start()
        self.assertEqual(list(client.events(after=0)), [])

    def test_closing_ends_a_stream_in_which_nothing_happens(self):
        server = RawServer([whole(claim()), begun])
        self.addCleanup(server.close)
        client = sdk.AgentClient(server.url, AGENT, heartbeat=False)
        client.claim_task()
        threading.Timer(0.3, client.close).start()
        began = time.monotonic()
        self.assertEqual(list(client.events(after=0)), [])
        self.assertLess(time.monotonic() - began, 5)

    def test_closing_ends_a_stream_in_which_nothing_happens_with_asyncio(self):
        server = RawServer([whole(claim()), begun])
        self.addCleanup(server.close)

        async def main():
            client = sdk.AsyncAgentClient(server.url, AGENT, heartbeat=False)
            await client.claim_task()
            asyncio.get_running_loop().call_later(0.3, lambda: asyncio.ensure_future(client.close()))
            began = time.monotonic()
            self.assertEqual([one async for one in client.events(after=0)], [])
            self.assertLess(time.monotonic() - began, 5)

        asyncio.run(main())

    def test_a_call_that_is_cancelled_is_cancelled(self):
        server = RawServer([None] * 9)
        self.addCleanup(server.close)

        async def main():
            async with sdk.AsyncAgentClient(server.url, AGENT) as client:
                with self.assertRaises(asyncio.TimeoutError):
                    await asyncio.wait_for(client.claim_task(), 0.3)

        asyncio.run(main())

    def test_a_program_ends_though_its_client_was_never_closed(self):
        for text in (
            "client = sdk.AgentClient(URL, TOKEN)\nprint(client.claim_task()['phase'])",
            "async def main():\n client = sdk.AsyncAgentClient(URL, TOKEN)\n"
            " print((await client.claim_task())['phase'])\nimport asyncio\nasyncio.run(main())",
        ):
            server = RawServer([whole(claim())])
            self.addCleanup(server.close)
            head = f"import orchestrator_agent_sdk as sdk\nURL, TOKEN = {server.url!r}, {AGENT!r}\n"
            done = subprocess.run([sys.executable, "-c", head + text], capture_output=True, text=True, timeout=30)
            self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "PLAN\n", ""))

    def test_many_threads_use_one_client(self):
        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                self.rfile.read(int(self.headers["content-length"]))
                answer = json.dumps({"key": self.headers["idempotency-key"]}).encode()
                body = claim() if self.path.endswith("/claim") else answer
                self.send_response(200)
                self.send_header("content-length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                return

        with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
            threading.Thread(target=server.serve_forever, daemon=True).start()
            client = sdk.AgentClient(f"http://127.0.0.1:{server.server_port}", AGENT)
            client.claim_task()
            keys = []
            threads = [
                threading.Thread(target=lambda: keys.extend(client.use_tool("glob")["key"] for _ in range(10)))
                for _ in range(8)
            ]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            client.close()
            server.shutdown()
        self.assertEqual(len(set(keys)), 80)


if __name__ == "__main__":
    unittest.main()
