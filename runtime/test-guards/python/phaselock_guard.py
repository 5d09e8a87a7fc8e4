"""Keeps code under test from deciding how its tests end.

The process that was started becomes the keeper: it runs nothing of the project, waits for a copy of itself that runs the tests,
and ends with exit code 0 only when that copy proved, with a secret of this run, that the runner came to its end and no test
failed.
"""

import importlib
import os
import sys

PROOF_BYTES = 32
EXIT_CODE = 1
PRELOADED = (
    "argparse ast asyncio collections.abc contextlib copy dataclasses difflib doctest fnmatch functools gettext glob inspect io "
    "json linecache locale logging pprint queue re runpy shutil signal string tempfile textwrap threading time tokenize "
    "traceback types typing warnings weakref xml.sax.saxutils unittest unittest.async_case unittest.case unittest.loader "
    "unittest.main unittest.mock unittest.result unittest.runner unittest.signals unittest.suite unittest.util"
).split()


def guard(is_pytest):
    with _without_project():
        for name in PRELOADED:
            _import(name)
        if is_pytest and _import("pytest") is not None:
            _import_below("_pytest")
    _load("guard_differences").bound()
    secret = os.urandom(PROOF_BYTES)
    read, write = os.pipe()
    os.set_inheritable(write, False)
    child = os.fork()
    if child != 0:
        os.close(write)
        _keep(child, read, secret)
    os.close(read)
    _load("guard_channel").leave_ancestors()
    _watch(secret, write, is_pytest and "pytest" in sys.modules)


class _without_project:
    """Leaves out of the path what the project could have written."""

    def __enter__(self):
        self.path = sys.path[:]
        here = os.path.realpath(os.getcwd()) + os.sep
        installed = tuple(os.path.realpath(one) + os.sep for one in (sys.prefix, sys.base_prefix))
        sys.path[:] = [
            entry
            for entry in sys.path
            if entry != ""
            and (
                (os.path.realpath(entry) + os.sep).startswith(installed)
                or not (os.path.realpath(entry) + os.sep).startswith(here)
            )
        ]

    def __exit__(self, *_):
        sys.path[:] = self.path


def _import(name):
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


def _import_below(package):
    import pkgutil

    found = sys.modules.get(package)
    for module in pkgutil.walk_packages(getattr(found, "__path__", ()), package + "."):
        _import(module.name)


def _keep(child, read, secret):
    """Waits for the tests in a process that the project never sees."""
    import signal

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda got, _: os.kill(child, got))
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        os._exit(128 + os.WTERMSIG(status))
    code = os.WEXITSTATUS(status)
    if code == 0 and not _is_proved(read, secret):
        os.write(2, b"phaselock: the tests ended before their runner did, or were tampered with; the run counts as failed\n")
        code = EXIT_CODE
    os._exit(code)


def _is_proved(read, secret):
    # Somebody may have kept the other end: nothing is waited for.
    os.set_blocking(read, False)
    try:
        return os.read(read, PROOF_BYTES + 1) == secret
    except BlockingIOError:
        return False


def _watch(secret, write, has_pytest):
    from importlib._bootstrap_external import FileLoader, SourceFileLoader, SourceLoader
    from unittest import async_case, case, loader, result, runner, suite

    # The package has a class under the name of this module.
    main = sys.modules["unittest.main"]

    owner = os.getpid()
    state = {"failed": set(), "ran": set(), "problems": [], "is_proved": False}
    channels = _load("guard_channel")
    state["channel"] = channels.Channel()
    state["plugin"] = channels.Plugin(state["channel"])
    send, getpid = os.write, os.getpid

    def prove(is_good):
        """Called when the runner itself came to its end."""
        state["verify"]()
        if getpid() != owner or state["is_proved"] or not is_good or state["problems"]:
            for problem in state["problems"][:5]:
                send(2, ("phaselock: %s\n" % problem).encode())
            return
        state["is_proved"] = True
        send(write, secret)

    _wrap_unittest(state, prove)
    kept = [case.TestCase, case.FunctionTestCase, case._Outcome, case._AssertRaisesContext, case._AssertRaisesBaseContext]
    kept += [async_case.IsolatedAsyncioTestCase, loader.TestLoader, main.TestProgram, result.TestResult]
    kept += [runner.TextTestResult, runner.TextTestRunner, suite.TestSuite, suite.BaseTestSuite]
    kept += [SourceFileLoader, SourceLoader, FileLoader]
    modules = [case, loader, main, result, runner, suite, async_case, sys.modules["unittest"], sys.modules["ast"]]
    if has_pytest:
        more, more_modules = _load("guard_pytest").wrap(state, prove)
        kept += more
        modules += more_modules
    _load("guard_lock").lock(kept, modules, state)


def _load(name):
    import importlib.util

    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), name + ".py")
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _wrap_unittest(state, prove):
    """Notes at the place where a test runs whether it raised: result objects belong to whoever finds them."""
    from unittest import async_case, case

    main = sys.modules["unittest.main"]

    names = frozenset(name for name in vars(case.TestCase) if not name.startswith("__") and name != "setUp" and name != "tearDown")
    skipped = case.SkipTest

    def noting(original):
        def _callTestMethod(self, method):
            state["ran"].add(id(self))
            state["begun"](self)
            try:
                return original(self, method)
            except skipped:
                raise
            except BaseException:
                if not _is_expected(self, method):
                    state["failed"].add(self.id())
                raise

        return _callTestMethod

    for owner in (case.TestCase, async_case.IsolatedAsyncioTestCase):
        owner._callTestMethod = noting(owner.__dict__["_callTestMethod"])

    call = case.TestCase.__call__

    def __call__(self, *args, **kwds):
        shadowed = names.intersection(vars(self)) - {"_testMethodName", "_testMethodDoc", "_outcome", "_cleanups", "_subtest"}
        shadowed -= {"_type_equality_funcs", "maxDiff", "longMessage", "failureException", self._testMethodName}
        if shadowed:
            state["problems"].append("%s of a test was replaced" % ", ".join(sorted(shadowed)))
        state["verify"](is_end=False)
        return call(self, *args, **kwds)

    case.TestCase.__call__ = __call__
    state["begun"] = _load("guard_cases").hold(state)

    run_tests = main.TestProgram.runTests

    def runTests(self):
        is_first = state["channel"].begin("unittest")
        try:
            run_tests(self)
        except SystemExit as end:
            result = getattr(self, "result", None)
            _tell_counts(state["channel"], result, is_first)
            is_good = result is not None and not end.code and not state["failed"]
            if not end.code and state["failed"]:
                state["problems"].append("%d tests failed that were reported as passed" % len(state["failed"]))
            prove(is_good)
            raise
        _tell_counts(state["channel"], getattr(self, "result", None), is_first)
        prove(not state["failed"])

    main.TestProgram.runTests = runTests


def _tell_counts(channel, result, is_first):
    if result is not None and is_first:
        failed = len(result.failures) + len(result.errors) + len(result.unexpectedSuccesses)
        skipped = len(result.skipped) + len(result.expectedFailures)
        for count, status in ((failed, "failed"), (skipped, "skipped"), (result.testsRun - failed - skipped, "passed")):
            for _ in range(max(count, 0)):
                channel.test("", status)
    channel.end()


def _is_expected(test, method):
    mark = "__unittest_expecting_failure__"
    return getattr(test, mark, False) or getattr(method, mark, False)
