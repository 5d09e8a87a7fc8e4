"""Tells Phaselock what the runner knows of its tests, beside the report that the command writes.

The connection is made before code under test is loaded: whoever comes later can add to what was told, and take nothing back.
"""

import os
import socket
from json import JSONEncoder

# Taken before a test replaces any of it.
to_json = JSONEncoder().encode
AT = "/run/phaselock/report.sock"


class Channel:
    def __init__(self):
        self._socket = None
        self._depth = 0
        if os.path.exists(AT):
            self._socket = socket.socket(socket.AF_UNIX)
            self._socket.connect(AT)

    def _tell(self, message):
        if self._socket is not None:
            self._socket.sendall((to_json(message) + "\n").encode())

    def begin(self, runner):
        """True for the runner of the command; a test may start others in this process."""
        self._depth += 1
        if self._depth == 1:
            self._tell({"runner": runner})
        return self._depth == 1

    def test(self, name, status, is_uncounted=False, test_id=None):
        self._tell({"test": name, "status": status, "isParent": is_uncounted, "id": test_id})

    def end(self):
        self._depth -= 1
        if self._depth == 0:
            self._tell({"end": True})


class Plugin:
    """Of pytest: one result for each test, from the reports of the process that runs them all."""

    def __init__(self, channel):
        self._channel = channel
        # As the output of pytest writes the id of a test; set when its configuration is known.
        self.shorten = str

    def pytest_runtest_logreport(self, report):
        if report.when == "call" or report.outcome != "passed":
            name = report.nodeid.split("::", 1)[-1].replace("::", " ")
            # pytest counts parts of a test, and tests that were expected to fail, apart from those that passed.
            is_uncounted = type(report).__name__ != "TestReport" or hasattr(report, "wasxfail")
            self._channel.test(name, report.outcome, is_uncounted, self.shorten(report.nodeid))

    def pytest_collectreport(self, report):
        if report.failed:
            self._channel.test(report.nodeid, "failed")


def _can_signal():
    import _signal

    before = _signal.signal(_signal.SIGUSR1, _signal.SIG_IGN)
    try:
        os.kill(os.getpid(), _signal.SIGUSR1)
    except OSError:
        return False
    finally:
        _signal.signal(_signal.SIGUSR1, before or _signal.SIG_DFL)
    return True


def leave_ancestors():
    """The process that decides, and those before it, are out of reach of this one and what it starts (Landlock, Linux 5.19).

    Where SIGUSR1 can be sent, no signal reaches them either (Linux 6.12).
    """
    import ctypes
    import struct

    refer = 1 << 13
    call = ctypes.CDLL(None).syscall
    rights = struct.pack("QQQ", refer, 0, 2)
    rules = call(444, rights, ctypes.c_size_t(24), 0) if _can_signal() else -1
    if rules < 0:
        rules = call(444, rights, ctypes.c_size_t(8), 0)
    if rules < 0:
        return
    root = os.open("/", os.O_PATH | os.O_CLOEXEC)
    if call(445, rules, 1, struct.pack("=Qi", refer, root), 0) == 0:
        call(446, rules, 0)
    os.close(root)
    os.close(rules)
