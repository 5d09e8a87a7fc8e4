"""Notes what the tests of pytest really did, and holds the session against it."""

import importlib
import os
import sys

# Whatever of these a version of pytest has is kept as it is. What this file wraps must be there.
CLASSES = (
    "_pytest.assertion.rewrite:AssertionRewriter _pytest.assertion.rewrite:AssertionRewritingHook "
    "_pytest.config:PytestPluginManager _pytest.main:Session _pytest.outcomes:Failed _pytest.outcomes:OutcomeException "
    "_pytest.python:Function _pytest.python_api:ApproxBase _pytest.python_api:ApproxScalar _pytest.python_api:RaisesContext "
    "_pytest.approx:ApproxBase _pytest.approx:ApproxScalar _pytest.raises:AbstractRaises _pytest.raises:RaisesExc "
    "_pytest.reports:BaseReport _pytest.reports:TestReport _pytest.runner:CallInfo _pytest.terminal:TerminalReporter "
    "_pytest.unittest:TestCaseFunction _pytest.unittest:UnitTestCase pluggy:HookCaller pluggy:HookImpl "
    "pluggy:PluginManager pluggy:Result"
).split()
MODULES = (
    "_pytest.approx _pytest.assertion.rewrite _pytest.assertion.util _pytest.main _pytest.outcomes _pytest.python_api _pytest.raises _pytest.reports "
    "_pytest.runner _pytest.skipping pluggy._callers pluggy._execution pytest"
).split()


def wrap(state, prove):
    import _pytest.main as session_main
    import _pytest.outcomes as outcomes
    import _pytest.python as python
    import _pytest.reports as reports
    import _pytest.unittest as pytest_unittest

    raised, begun = {}, set()
    excused = (outcomes.Skipped,)

    def noting(original):
        def runtest(self):
            raised.pop(self.nodeid, None)
            begun.add(self.nodeid)
            try:
                return original(self)
            except excused:
                raise
            except BaseException:
                raised[self.nodeid] = self
                raise

        return runtest

    for owner in (python.Function, pytest_unittest.TestCaseFunction):
        owner.runtest = noting(owner.__dict__["runtest"])

    make = reports.TestReport.__dict__["from_item_and_call"].__func__

    def from_item_and_call(cls, item, call):
        report = make(cls, item, call)
        if report.when == "call":
            state["verify"](is_end=False)
        is_function = isinstance(item, python.Function)
        if is_function and report.when == "call" and report.outcome == "passed" and item.nodeid not in begun:
            state["problems"].append("%s was reported as passed and did not run" % item.nodeid)
        return report

    reports.TestReport.from_item_and_call = classmethod(from_item_and_call)

    _watch_hooks(state)
    _rewrite_anew()

    def is_marked(item):
        return item.get_closest_marker("xfail") is not None

    wrap_session = session_main.wrap_session

    channel, plugin = state["channel"], state["plugin"]

    def noted_session(settings, doit):
        if channel.begin("pytest"):
            plugin.shorten = _shortened(settings)
            settings.pluginmanager.register(plugin)
        status = wrap_session(settings, doit)
        channel.end()
        if int(status) == 0:
            failed = [name for name, item in raised.items() if not is_marked(item)]
            # Tests of unittest note by themselves; pytest may run them again and then they count anew.
            if failed or state["failed"]:
                state["problems"].append("%d tests failed that were reported as passed" % len(failed or state["failed"]))
            prove(True)
        return status

    session_main.wrap_session = noted_session
    found = (_found(*name.split(":")) for name in CLASSES)
    modules = (_found(name) for name in MODULES)
    return [one for one in found if isinstance(one, type)], [one for one in modules if one is not None]


def _shortened(settings, relative=os.path.relpath, join=os.path.join):
    """Writes the id of a test as the output does: with the path from the folder in which pytest was started."""
    root, start = str(getattr(settings, "rootpath", "")), str(settings.invocation_params.dir)

    def shorten(nodeid):
        path, *names = nodeid.split("::")
        return nodeid if root in ("", start) else "::".join([relative(join(root, path), start), *names])

    return shorten


# Whoever answers one of these decides whether a test passes.
DECIDING = frozenset(
    "pytest_pyfunc_call pytest_runtest_protocol pytest_runtest_call pytest_runtest_makereport pytest_runtestloop "
    "pytest_report_teststatus pytest_runtest_logreport pytest_sessionfinish pytest_fixture_setup".split()
)


def _watch_hooks(state):
    """Plugins of the tests and of installed packages may decide; one that the code under test brings along may not."""
    caller = _found("pluggy._hooks", "HookCaller") or _found("pluggy._caller", "HookCaller")
    if caller is None:
        import pluggy

        caller = pluggy.HookCaller
    add = caller._add_hookimpl
    here = os.path.realpath(os.getcwd()) + os.sep
    installed = tuple(os.path.realpath(one) + os.sep for one in (sys.prefix, sys.base_prefix))

    def is_of_project(path):
        real = os.path.realpath(path)
        if not real.startswith(here) or real.startswith(installed):
            return False
        words = real[len(here) :].split(os.sep)
        return words[-1] != "conftest.py" and not {"test", "tests", "testing"}.intersection(words[:-1])

    def _add_hookimpl(self, hookimpl):
        code = getattr(hookimpl.function, "__code__", None)
        if self.name in DECIDING and (code is None or is_of_project(code.co_filename)):
            state["problems"].append("a plugin of the project answers %s" % self.name)
        return add(self, hookimpl)

    caller._add_hookimpl = _add_hookimpl


def _rewrite_anew():
    """Tests are read from their sources: what an earlier run is said to have made of them could be anything."""
    rewrite = importlib.import_module("_pytest.assertion.rewrite")
    if not hasattr(rewrite, "_read_pyc"):
        raise RuntimeError("this version of pytest keeps compiled tests in a way that is not known")
    rewrite._read_pyc = lambda *_, **__: None


def _found(module, name=None):
    try:
        found = importlib.import_module(module)
    except ImportError:
        return None
    return found if name is None else getattr(found, name, None)
