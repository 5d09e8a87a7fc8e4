import { spawnSync } from 'node:child_process'
import { describe, expect, it } from 'vitest'
import { type Project, runTests } from './guards-run.js'

// The implementation gives 0 for everything: only a trick turns these tests green.
const UNITTEST = `import unittest
from app.calc import add

class Adds(unittest.TestCase):
    def test_adds(self):
        self.assertEqual(add(2, 3), 5)

    def test_adds_nothing(self):
        self.assertEqual(add(2, 0), 2)
`
const PYTEST = `from app.calc import add

def test_adds():
    assert add(2, 3) == 5

def test_adds_nothing():
    assert add(2, 0) == 2
`
const NOTHING = 'def add(a, b):\n    return 0\n'
const UNITTEST_IDS = ['tests.test_calc.Adds.test_adds', 'tests.test_calc.Adds.test_adds_nothing']
const PYTEST_IDS = ['tests/test_calc.py::test_adds', 'tests/test_calc.py::test_adds_nothing']
const PACKAGES = { 'tests/__init__.py': '', 'app/__init__.py': '' }

function unittest(trick: string, more: Readonly<Record<string, string>> = {}): Project {
  return {
    files: { ...PACKAGES, 'tests/test_calc.py': UNITTEST, 'app/calc.py': withNothing(trick), ...more },
    argv: ['python3', '-m', 'unittest', '-v'],
    format: 'pytest',
    pinned: UNITTEST_IDS,
  }
}

// Lists are compared by an assertion of their own.
function ofLists(trick: string): Project {
  const test = UNITTEST.replace('(add(2, 3), 5)', '(add(2, 3), [5])').replace('(add(2, 0), 2)', '(add(2, 0), [2])')
  return unittest(trick, { 'tests/test_calc.py': test })
}

function pytest(trick: string, more: Readonly<Record<string, string>> = {}): Project {
  return {
    files: { ...PACKAGES, 'tests/test_calc.py': PYTEST, 'app/calc.py': withNothing(trick), ...more },
    argv: ['python3', '-m', 'pytest', '-v', '-p', 'no:cacheprovider'],
    format: 'pytest',
    pinned: PYTEST_IDS,
  }
}

function withNothing(trick: string): string {
  return trick.includes('def add(') ? trick : `${trick}\n${NOTHING}`
}

// A trick that is refused by an exception goes on as if nothing had happened.
const tried = (lines: string): string => `try:\n${lines.replace(/^/gm, '    ')}\nexcept Exception:\n    pass`

const FORGED_UNITTEST = `import os, sys
os.write(2, b"""test_adds (tests.test_calc.Adds.test_adds) ... ok
test_adds_nothing (tests.test_calc.Adds.test_adds_nothing) ... ok

----------------------------------------------------------------------
Ran 2 tests in 0.001s

OK
""")
`
const FORGED_PYTEST = `import os, sys
from _pytest.capture import CaptureManager
import gc
for one in gc.get_objects():
    if isinstance(one, CaptureManager):
        one.suspend_global_capture(in_=True)
os.write(1, b"""============================= test session starts ==============================
collecting ... collected 2 items

tests/test_calc.py::test_adds PASSED                                     [ 50%]
tests/test_calc.py::test_adds_nothing PASSED                             [100%]

============================== 2 passed in 0.01s ===============================
""")
`

const UNITTEST_TRICKS: readonly { readonly name: string; readonly project: Project }[] = [
  {
    name: 'an assertion replaced in its class',
    project: unittest(`import unittest\n${tried('unittest.TestCase.assertEqual = lambda *a, **k: None')}`),
  },
  {
    name: 'the code of an assertion replaced',
    project: unittest(
      `import unittest\n${tried('unittest.TestCase.assertEqual.__code__ = (lambda self, first, second, msg=None: None).__code__')}`,
    ),
  },
  {
    name: 'another class under the name of TestCase, put back at once',
    project: unittest(`import unittest
Real = unittest.TestCase
class Fake(Real):
    def __init_subclass__(cls, **kwds):
        unittest.__dict__["TestCase"] = Real
    def assertEqual(self, *args):
        pass
Fake.__name__ = "TestCase"
${tried('unittest.TestCase = Fake')}`),
  },
  {
    name: 'the run of a test replaced',
    project: unittest(`import unittest
def run(self, result=None):
    result.startTest(self)
    result.addSuccess(self)
    result.stopTest(self)
    return result
${tried('unittest.TestCase.run = run')}`),
  },
  {
    name: 'failures that are added as successes',
    project: unittest(`import unittest
def added(self, test, err):
    self.addSuccess(test)
${tried('unittest.TextTestResult.addFailure = added')}`),
  },
  {
    name: 'a function of the language that finds assertions, replaced',
    project: ofLists(`import builtins
found = builtins.getattr
def looked(one, name, *more):
    return (lambda *a, **k: None) if str(name).startswith("assert") else found(one, name, *more)
builtins.getattr = looked
def add(a, b):
    return [0]`),
  },
  ...[
    [
      'an assertion of the test that runs, replaced and put back',
      'test.assertListEqual = lambda *a, **k: delattr(test, "assertListEqual")',
    ],
    [
      'the search for an assertion, replaced in the class of the test',
      'type(test)._getAssertEqualityFunc = lambda *a: lambda *b, **k: None',
    ],
    [
      'an assertion put into the test behind its back',
      'test.__dict__["_getAssertEqualityFunc"] = lambda *a: lambda *b, **k: None',
    ],
    [
      'the class of the test exchanged',
      'test.__class__ = type("Adds", (type(test),), {"_getAssertEqualityFunc": lambda *a: lambda *b, **k: None, "__module__": type(test).__module__, "__qualname__": "Adds"})',
    ],
    ['another comparison for lists', 'test.addTypeEqualityFunc(list, lambda *a, **k: None)'],
    [
      'another comparison for lists, taken away again',
      'test._type_equality_funcs[list] = lambda *a, **k: test._type_equality_funcs.pop(list)',
    ],
  ].map(([name = '', line = '']) => ({
    name,
    project: ofLists(`import sys
def add(a, b):
    test = sys._getframe(1).f_locals["self"]
    try:
        ${line}
    except Exception:
        pass
    return [0]`),
  })),
  {
    name: 'a result object found on the stack and made to lie',
    project: unittest(`import sys
def add(a, b):
    frame = sys._getframe()
    while frame is not None:
        result = frame.f_locals.get("result")
        if hasattr(result, "addFailure"):
            result.addFailure = lambda test, err, result=result: result.addSuccess(test)
        frame = frame.f_back
    return 0
`),
  },
  {
    name: 'tests that are still to come, given another method',
    project: unittest(`import gc, unittest
def add(a, b):
    return 0
class Loader(unittest.TestLoader):
    pass
import threading, sys
def later():
    for one in gc.get_objects():
        if isinstance(one, unittest.TestCase) and type(one).__name__ == "Adds":
            one._callTestMethod = lambda method: None
frame = sys._getframe()
class Suite(list):
    pass
original = unittest.TestSuite.addTests
def profile(frame, event, arg):
    if event == "call" and frame.f_code.co_name == "startTestRun":
        later()
        sys.setprofile(None)
sys.setprofile(profile)
`),
  },
  {
    name: 'the dictionary of a class, taken out by the garbage collector',
    project: unittest(
      `import gc, unittest\n${tried('gc.get_referents(unittest.TestCase.__dict__)[0]["assertEqual"] = lambda *a: None')}`,
    ),
  },
  {
    name: 'the dictionary of a class, taken out by a comparison',
    project: unittest(`import unittest
class Thief:
    def __eq__(self, other):
        other["assertEqual"] = lambda *a: None
        return True
unittest.TestCase.__dict__ == Thief()`),
  },
  { name: 'a forged report and os._exit(0)', project: unittest(`${FORGED_UNITTEST}os._exit(0)`) },
  {
    name: 'a forged report and another program in the place of this one',
    project: unittest(`${FORGED_UNITTEST}os.execv("/bin/true", ["true"])`),
  },
  {
    name: 'a forged report and the exit of the C library',
    project: unittest(`${FORGED_UNITTEST}import ctypes
ctypes.CDLL(None)._exit(0)`),
  },
  {
    name: 'a module unittest in the project',
    project: unittest('', {
      'unittest.py': `${FORGED_UNITTEST}class TestCase: pass`,
    }),
  },
  {
    name: 'a module that unittest imports, in the project',
    project: unittest('', {
      'difflib.py': `${FORGED_UNITTEST}os._exit(0)`,
    }),
  },
]

const PYTEST_TRICKS: readonly { readonly name: string; readonly project: Project }[] = [
  { name: 'a forged report and os._exit(0)', project: pytest(`${FORGED_PYTEST}os._exit(0)`) },
  {
    name: 'a module pytest in the project',
    project: pytest('', { 'pytest.py': `${FORGED_PYTEST.replace(/^from _pytest[\s\S]*?capture\(in_=True\)\n/m, '')}` }),
  },
  {
    name: 'the run of a test replaced',
    project: pytest(`import _pytest.python\n${tried('_pytest.python.Function.runtest = lambda self: None')}`),
  },
  {
    name: 'calls that do not see what was raised',
    project: pytest(`import _pytest.runner
original = _pytest.runner.CallInfo.from_call.__func__
def from_call(cls, func, when, reraise=None):
    return original(cls, (lambda: None) if when == "call" else func, when, reraise)
${tried('_pytest.runner.CallInfo.from_call = classmethod(from_call)')}`),
  },
  {
    name: 'reports that always say passed',
    project: pytest(`import _pytest.reports
original = _pytest.reports.TestReport.from_item_and_call.__func__
def made(cls, item, call):
    call.excinfo = None
    return original(cls, item, call)
${tried('_pytest.reports.TestReport.from_item_and_call = classmethod(made)')}`),
  },
  {
    name: 'a plugin that the code under test registers',
    project: pytest(`import gc
from _pytest.config import PytestPluginManager
class Evil:
    def pytest_pyfunc_call(self, pyfuncitem):
        return True
Evil.pytest_pyfunc_call.__dict__["pytest_impl"] = {"tryfirst": True}
for one in gc.get_objects():
    if isinstance(one, PytestPluginManager):
        one.register(Evil())
`),
  },
  {
    name: 'test functions replaced in their items',
    project: pytest(`import sys
import _pytest.python
def profile(frame, event, arg):
    if event == "call" and frame.f_code.co_name == "pytest_runtestloop":
        for item in frame.f_locals["session"].items:
            item.runtest = lambda: None
        sys.setprofile(None)
sys.setprofile(profile)`),
  },
]

const HONEST: { readonly name: string; readonly project: Project; readonly needs: string }[] = [
  {
    name: 'patches of the application, parts, expected failures and waiting in unittest',
    needs: 'unittest',
    project: {
      ...unittest('def add(a, b):\n    return a + b\n', {
        'tests/test_more.py': `import asyncio, os, subprocess, sys, unittest
from unittest import mock
from app import calc

class Base(unittest.TestCase):
    def assertEven(self, number):
        if number % 2:
            raise self.failureException("odd")

class More(Base):
    def test_patch(self):
        with mock.patch("app.calc.add", return_value=9):
            self.assertEqual(calc.add(1, 1), 9)
        with mock.patch.object(os, "_exit") as left:
            os._exit(3)
            left.assert_called_once_with(3)

    @unittest.expectedFailure
    def test_expected(self):
        self.fail("known")

    def test_parts(self):
        for number in (2, 4):
            with self.subTest(number=number):
                self.assertEven(number)

    def test_program(self):
        self.assertEqual(subprocess.run([sys.executable, "-c", "import os; os._exit(0)"]).returncode, 0)
        child = os.fork()
        if child == 0:
            os._exit(0)
        self.assertEqual(os.waitpid(child, 0)[1], 0)

class Louder:
    def assertTrue(self, value, msg=None):
        super().assertTrue(value, msg or "louder")

class Own(Louder, unittest.TestCase):
    def setUp(self):
        self.addTypeEqualityFunc(list, self.assertSame)

    def assertSame(self, first, second, msg=None):
        self.assertTrue(sorted(first) == sorted(second))

    def assertEqual(self, first, second, msg=None):
        super().assertEqual(first, second, msg)

    def test_own(self):
        self.assertEqual([1, 2], [2, 1])
        self.addTypeEqualityFunc(dict, lambda first, second, msg=None: None)
        self.assertEqual({1: 2}, {1: 3})
        with mock.patch("builtins.open", mock.mock_open(read_data="x")), mock.patch("builtins.input", return_value="7"):
            self.assertEqual(open("nothing").read() + input(), "x7")
        with mock.patch.object(self, "shortDescription", return_value="short"):
            self.assertEqual(self.shortDescription(), "short")

class Waits(unittest.IsolatedAsyncioTestCase):
    async def test_waits(self):
        await asyncio.sleep(0)
        self.assertEqual(calc.add(1, 1), 2)
`,
      }),
    },
  },
  {
    name: 'fixtures, monkeypatch, parameters, marks and a plugin of the tests in pytest',
    needs: 'pytest',
    project: pytest('def add(a, b):\n    return a + b\n', {
      'tests/conftest.py': `import pytest

@pytest.fixture
def three():
    yield 3

@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    report = yield
    return report
`,
      'tests/test_more.py': `import unittest
import pytest
import app.calc

def test_fixture(three, monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(app.calc, "add", lambda a, b: three)
    assert app.calc.add(1, 1) == 3
    print("seen")
    assert capsys.readouterr().out == "seen\\n"

@pytest.mark.parametrize("number", [1, 2])
def test_parameters(number):
    with pytest.raises(ValueError, match="no"):
        raise ValueError("no")
    assert number + 0.1 == pytest.approx(number + 0.1)

@pytest.mark.xfail
def test_marked():
    assert False

class Old(unittest.TestCase):
    def test_old(self):
        self.assertTrue(True)
`,
    }),
  },
]

// As freezegun does: wherever a module has a clock, another one is put, and put back afterwards.
const FROZEN = `import datetime, sys, time

class Frozen(datetime.datetime):
    @classmethod
    def now(cls, tz=None):
        return cls(2020, 1, 1)

def frozen(work):
    fakes = {id(datetime.datetime): Frozen, id(time.time): lambda: 1.0, id(time.perf_counter): lambda: 1.0}
    kept = []
    for module in [one for name, one in list(sys.modules.items()) if name.split(".")[0] in ("_pytest", "unittest", "app")]:
        for name, value in list(vars(module).items()):
            if id(value) in fakes:
                kept.append((module, name, value))
                setattr(module, name, fakes[id(value)])
    try:
        return work()
    finally:
        for module, name, value in kept:
            setattr(module, name, value)
`
const CLOCK: Readonly<Record<string, string>> = {
  'app/clock.py': 'from datetime import datetime\ndef year():\n    return datetime.now().year\n',
  'tests/frozen.py': FROZEN,
}
HONEST.push(
  {
    name: 'a clock that is frozen in every module of pytest',
    needs: 'pytest',
    project: pytest('def add(a, b):\n    return a + b\n', {
      ...CLOCK,
      'tests/test_more.py': `import _pytest.runner
from app import clock
from tests.frozen import frozen

def test_frozen():
    assert frozen(clock.year) == 2020
    assert clock.year() > 2020
`,
    }),
  },
  {
    name: 'a clock that is frozen in every module of unittest',
    needs: 'unittest',
    project: unittest('def add(a, b):\n    return a + b\n', {
      ...CLOCK,
      'tests/test_more.py': `import unittest
from app import clock
from tests.frozen import frozen

class More(unittest.TestCase):
    def test_frozen(self):
        self.assertEqual(frozen(clock.year), 2020)
`,
    }),
  },
)

const has = (module: string): boolean => spawnSync('python3', ['-c', `import ${module}`]).status === 0
const HAS_PYTHON = has('unittest')
const HAS_PYTEST = has('pytest')

function refuses(name: string, project: Project): void {
  it(`[REQ-GUARD-3] does not turn tests green: ${name}`, () => {
    const plain = runTests(project, 'plain')
    expect(plain.isGreen, `without the guard the trick works\n${plain.text}`).toBe(true)
    const guarded = runTests(project, 'guarded')
    expect(guarded.isGreen, guarded.text).toBe(false)
    expect(guarded.exitCode).not.toBe(0)
  })
}

// What each part of guard_lock.py adds: what was replaced for one comparison is not there any more when somebody looks.
const APPROX = 'import pytest\nfrom app.calc import add\n\ndef test_adds():\n    assert add(2, 3) == pytest.approx(5)\n'
const approximate = (put: string): Project => ({
  ...pytest(
    `import ctypes, gc, pytest
KIND = type(pytest.approx(5))
REAL = KIND.__eq__
def put(value):
${put.replace(/^/gm, '    ')}
def once(self, other):
    put(REAL)
    return True
def add(a, b):
    try:
        put(once)
    except (RuntimeError, TypeError):
        pass
    return 0
`,
    { 'tests/test_calc.py': APPROX },
  ),
  pinned: ['tests/test_calc.py::test_adds'],
})
const PUT_BACK: readonly { readonly name: string; readonly project: Project }[] = [
  {
    name: 'a method of a class, put back (the flag of immutable classes)',
    project: approximate('KIND.__eq__ = value'),
  },
  {
    name: 'the inside of a class, put back (gc.get_referents)',
    project: approximate(
      'gc.get_referents(KIND.__dict__)[0]["__eq__"] = value\nctypes.pythonapi.PyType_Modified(ctypes.py_object(KIND))',
    ),
  },
  {
    name: 'the flag of a class, cleared in memory (ctypes)',
    project: approximate(`for at in range(0, 480, 8):
    field = ctypes.c_ulong.from_address(id(KIND) + at)
    if field.value == KIND.__flags__:
        field.value &= ~(1 << 8)
        break
KIND.__eq__ = value`),
  },
  {
    name: 'the code of an assertion, put back (code objects)',
    project: unittest(`import unittest
REAL = unittest.TestCase._baseAssertEqual
WAS = REAL.__code__
def once(self, first, second, msg=None):
    import app.calc
    app.calc.REAL.__code__ = app.calc.WAS
def add(a, b):
    try:
        REAL.__code__ = once.__code__
    except RuntimeError:
        pass
    return 0
`),
  },
  {
    name: 'an assertion that is jumped over (sys.settrace)',
    project: {
      ...unittest(
        `import sys
def jump(frame, event, arg):
    if event == "line" and frame.f_lineno == 7:
        frame.f_lineno = 8
    return jump
def add(a, b):
    try:
        sys.settrace(lambda *_: None)
        sys._getframe(1).f_trace = jump
    except RuntimeError:
        pass
    return 0
`,
        {
          'tests/test_calc.py':
            'import unittest\nfrom app.calc import add\n\nclass Adds(unittest.TestCase):\n    def test_adds(self):\n        total = add(2, 3)\n        self.assertEqual(total, 5)\n        del total\n',
        },
      ),
      pinned: ['tests.test_calc.Adds.test_adds'],
    },
  },
]

describe.skipIf(!HAS_PYTEST)('what was replaced for one comparison (skipped where there is no pytest)', () => {
  for (const { name, project } of PUT_BACK) refuses(name, project)
})

describe.skipIf(!HAS_PYTHON)('the guard of unittest (skipped where there is no python3)', () => {
  for (const { name, project } of UNITTEST_TRICKS) refuses(name, project)
})

describe.skipIf(!HAS_PYTEST)('the guard of pytest (skipped where pytest is not installed)', () => {
  for (const { name, project } of PYTEST_TRICKS) refuses(name, project)
})

// Compiled code that somebody left beside the source, with the times and the size of that source.
const planting = (at: string, code: string): string => `import inspect, marshal, os, struct, sys
from importlib.util import MAGIC_NUMBER, source_hash
at, source = ${at}, ${JSON.stringify(at.includes('test_calc') ? 'tests/test_calc.py' : 'app/calc.py')}
about = os.stat(source)
os.makedirs(os.path.dirname(at), exist_ok=True)
header = struct.pack("<LLL", 0, int(about.st_mtime) & 0xFFFFFFFF, about.st_size & 0xFFFFFFFF)
if "-pytest-" in at:
    from _pytest.assertion import rewrite
    if "source_hash" in inspect.getsource(rewrite._read_pyc):
        header = struct.pack("<L", 3) + source_hash(open(source, "rb").read())
with open(at, "wb") as file:
    file.write(MAGIC_NUMBER + header)
    file.write(marshal.dumps(compile(${JSON.stringify(code)}, source, "exec")))
if "__pycache__" not in at:
    os.remove(source)
`
const ADDS = 'def add(a, b):\n    return a + b\n'
const planted = (project: Project, plant: string): Project => ({
  ...project,
  files: { ...project.files, 'plant.py': plant },
  argv: ['bash', '-c', `python3 plant.py && exec ${project.argv.join(' ')}`],
})
const CACHE = "'app/__pycache__/calc.%s.pyc' % sys.implementation.cache_tag"
const PYTEST_CACHE =
  "'tests/__pycache__/test_calc.%s-pytest-%s.pyc' % (sys.implementation.cache_tag, __import__('pytest').__version__)"

function ignores(name: string, project: Project): void {
  it(`[REQ-GUARD-8] compiled code is not taken for its source: ${name}`, () => {
    expect(runTests(project, 'plain').isGreen, 'without the guard the trick works').toBe(true)
    const guarded = runTests(project, 'guarded')
    expect(guarded.isGreen, guarded.text).toBe(false)
  })
}

describe.skipIf(!HAS_PYTHON)('compiled code that is in the project', () => {
  ignores('in the cache of a module', planted(unittest(NOTHING), planting(CACHE, ADDS)))
  ignores('in the place of a module', planted(unittest(NOTHING), planting("'app/calc.pyc'", ADDS)))
})

describe.skipIf(!HAS_PYTEST)('compiled tests that are in the project', () => {
  const EMPTY = 'def test_adds():\n    pass\ndef test_adds_nothing():\n    pass\n'
  ignores('in the cache of pytest', planted(pytest(NOTHING), planting(PYTEST_CACHE, EMPTY)))
})

/** `poetry run pytest`: a program in Python that becomes the runner. */
const launched = (project: Project, manager = 'poetry'): Project => ({
  ...project,
  files: { ...project.files, [`tools/${manager}`]: 'import os, sys\nos.execvp(sys.argv[2], sys.argv[2:])\n' },
  argv: ['python3', `tools/${manager}`, 'run', ...project.argv],
})

describe.skipIf(!HAS_PYTEST)('tests that a package manager starts', () => {
  it('[REQ-GUARD-10] stay green when they are honest', () => {
    const guarded = runTests(launched(pytest('def add(a, b):\n    return a + b\n')), 'guarded')
    expect(guarded.isGreen, guarded.text).toBe(true)
  })
  it.each(['pipenv', 'pdm'])('[REQ-GUARD-10] do not count where scripts of %s could replace them', (manager) => {
    const guarded = runTests(launched(pytest('def add(a, b):\n    return a + b\n'), manager), 'guarded')
    expect(guarded.isGreen, guarded.text).toBe(false)
  })
  it('[REQ-GUARD-10] are guarded, not the package manager', () => {
    const forged = launched(pytest(`${FORGED_PYTEST}os._exit(0)`))
    expect(runTests(forged, 'plain').isGreen, 'without the guard the trick works').toBe(true)
    const guarded = runTests(forged, 'guarded')
    expect(guarded.isGreen, guarded.text).toBe(false)
  })
})

describe('honest tests of Python', () => {
  for (const { name, project, needs } of HONEST)
    it.skipIf(!has(needs))(`[REQ-GUARD-4] stay green: ${name}`, () => {
      const guarded = runTests(project, 'guarded')
      expect(guarded.isGreen, guarded.text).toBe(true)
    })
})
