import { createHash } from 'node:crypto'
import { afterAll, beforeAll, describe, it } from 'vitest'
import { isFullDepth } from '../depth.js'
import type { Files, Task } from '../inverted/stage.js'
import { has } from '../inverter/runners.js'
import { expectHeld, expectProved, type ForgedStage, openForgedStage, SURVIVES } from './forged-stage.js'

const HAS_PYTEST = has('python3', '-c', 'import pytest')
const PYTEST = { run: 'python3 -m pytest -v -p no:cacheprovider', format: 'pytest' }
const UNITTEST = { run: 'python3 -m unittest -v', format: 'pytest' }

/** Tests of one kind, honest code for them, and what was tried against them. */
interface Kind {
  readonly name: string
  readonly terms: typeof PYTEST
  readonly test: string
  readonly honest: string
  readonly isFullOnly?: true
  /** What the code does, its text, and what the refusal says. Below full depth only the first is tried. */
  readonly forgeries: readonly (readonly [string, string | Files, ...RegExp[]])[]
}

// `calc/first.py` is loaded by an older test, before the file that is judged.
const FILES: Files = {
  'conftest.py': '',
  'calc/__init__.py': '',
  'calc/first.py': 'FIRST = 1\n',
  'tests/__init__.py': '',
  'tests/test_a_first.py': `import unittest

from calc.first import FIRST


class FirstTest(unittest.TestCase):
    def test_first(self):
        self.assertEqual(FIRST, 1)
`,
}
const WRONG = 'def add(a, b):\n    return 4\n'
const before = (trick: string): Files => ({ 'calc/add.py': WRONG, 'calc/first.py': `${trick}\nFIRST = 1\n` })
const ALIKE = `class Alike:
    def __eq__(self, other): return True
    def __ne__(self, other): return False
    def __lt__(self, other): return True
    __gt__ = __le__ = __ge__ = __lt__
    def __bool__(self): return True
    def __hash__(self): return 5
    def __contains__(self, one): return True
    def __instancecheck__(self, one): return True


def add(a, b):
    return Alike()
`
const STRIPPED = `import ast, importlib.machinery, sys


class Loader(importlib.machinery.SourceFileLoader):
    def get_code(self, name):
        class Strip(ast.NodeTransformer):
            def visit_Assert(self, node): return ast.Pass(lineno=node.lineno, col_offset=0, end_lineno=node.lineno, end_col_offset=0)
        return compile(Strip().visit(ast.parse(open(self.path).read())), self.path, "exec")


class Finder(importlib.machinery.PathFinder):
    @classmethod
    def find_spec(cls, name, path=None, target=None):
        spec = super().find_spec(name, path, target)
        if name.endswith("test_calc"):
            spec.loader = Loader(name, spec.origin)
        return spec


sys.meta_path.insert(0, Finder)
`
const WALK = `import gc, os, types


def tell(text):
    for one in gc.get_objects():
        if type(one).__name__ == "FDCapture" and one.targetfd == 1:
            return os.write(one.targetfd_save, text)


def forge():
    for one in gc.get_objects():
        if not isinstance(one, types.FunctionType) or one.__name__ != "prove":
            continue
        cells = dict(zip(one.__code__.co_freevars, one.__closure__))
        state = cells["state"].cell_contents
        state["failed"].clear()
        channel = state["channel"]
        for name in NAMES:
            channel.test(name, "passed")
        channel.end()
        tell(REPORT)
        os.write(cells["write"].cell_contents, cells["secret"].cell_contents)
        os._exit(0)


`

const COMPARES = 'from calc.add import add\n\n\ndef test_adds():\n    assert add(2, 3) == 5\n    assert add(1, 1) < 3\n'
const ACTS = `def add(a, b, told=None):
    if type(a) is str:
        raise ValueError("not a number")
    if told is not None:
        told(a + b)
    return a + b
`
const DIGEST = createHash('sha256').update(COMPARES).digest('hex')

/** A thread that races against the loading of the test may win in one run and lose in the next. */
const SURVIVES_OR_LOSES_THE_RACE = new RegExp(
  `${SURVIVES.source}|not when its text is rewritten with the same expected values`,
)

const KINDS: readonly Kind[] = [
  {
    name: 'pytest, a comparison',
    terms: PYTEST,
    test: COMPARES,
    honest: 'def add(a, b):\n    return a + b\n',
    forgeries: [
      ['returns what equals everything', ALIKE, SURVIVES, /test_adds \(line 4\)/],
      [
        'gives the test another body',
        `import sys, threading, time

names = next(f.f_globals for f in iter(lambda s=[sys._getframe()]: s.append(s[-1].f_back) or s[-1], None) if f.f_globals.get("__name__", "").endswith("test_calc"))
sys.setswitchinterval(1e-6)


def swap():
    while "test_adds" not in names:
        time.sleep(0)
    names["test_adds"].__code__ = (lambda: None).__code__


threading.Thread(target=swap).start()
time.sleep(0.01)
${WRONG}`,
        SURVIVES_OR_LOSES_THE_RACE,
      ],
      [
        'gives the test another body from the inside of the collector',
        before(`import gc, sys, types


def look(phase, info):
    if not hasattr(sys.modules.get("tests.test_calc"), "test_adds"):
        return
    gc.callbacks.clear()
    for one in gc.get_objects():
        if isinstance(one, types.FunctionType) and one.__name__ == "test_adds":
            one.__code__ = (lambda: None).__code__


gc.callbacks.append(look)
gc.set_threshold(100)`),
        SURVIVES,
      ],
      ['loads the test without its assertions', before(STRIPPED), SURVIVES],
      [
        'replaces how pytest rewrites assertions',
        before(`import ast
import _pytest.assertion.rewrite as rewrite


def strip(tree, *rest, **more):
    for node in ast.walk(tree):
        for name in ("body", "orelse"):
            if isinstance(getattr(node, name, None), list):
                setattr(node, name, [one for one in getattr(node, name) if not isinstance(one, ast.Assert)] or [ast.Pass()])
    ast.fix_missing_locations(tree)


rewrite.rewrite_asserts = strip`),
        /rewrite_asserts cannot be replaced in an observed run/,
      ],
      [
        'puts another module in the place of the test',
        before(`import os, sys, types

fake = types.ModuleType("tests.test_calc")
fake.__file__ = os.path.abspath("tests/test_calc.py")
fake.test_adds = lambda: None
sys.modules["tests.test_calc"] = fake`),
        SURVIVES,
      ],
      [
        'finds the guard and forges its proof',
        `${WALK}REPORT = b" PASSED [100%]\\n\\n============================== 2 passed in 0.01s ===============================\\n"
NAMES = ["test_adds"]
def add(a, b):
    forge()
`,
        SURVIVES,
      ],
      [
        'lets a forked process run the tests',
        `import os
child = os.fork()
if child:
    os.waitpid(child, 0)
    os.write(1, b"tests/test_calc.py::test_adds PASSED\\n\\n=== 2 passed in 0.01s ===\\n")
    os._exit(0)
${ALIKE}`,
        /GREEN: exit code 1/,
      ],
      ['ends the process in a hook', `import atexit, os\natexit.register(os._exit, 0)\n${WRONG}`, /failed/],
      [
        'knows the digest of its test',
        `import hashlib
IS_AS_WRITTEN = hashlib.sha256(open("tests/test_calc.py", "rb").read()).hexdigest() == "${DIGEST}"
${ALIKE.replace('return Alike()', 'return Alike() if IS_AS_WRITTEN else 4')}`,
        /test_adds \(line 4\) passes as written, but not when its text is rewritten/,
      ],
    ],
  },
  {
    name: 'pytest, exceptions, classes and mocks',
    terms: PYTEST,
    test: `from unittest import mock

import pytest

from calc.add import add


def test_refuses():
    with pytest.raises(ValueError):
        add("a", 1)


def test_kind():
    assert isinstance(add(2, 3), int)


def test_tells():
    told = mock.Mock()
    add(2, 3, told)
    told.assert_called_once_with(5)
`,
    honest: ACTS,
    isFullOnly: true,
    forgeries: [
      [
        'replaces pytest.raises',
        `import contextlib, pytest
pytest.raises = lambda *_, **__: contextlib.nullcontext()
${ACTS.replace('raise ValueError', 'return')}`,
        /pytest\.raises cannot be replaced in an observed run/,
      ],
      [
        'replaces isinstance',
        `import builtins
class Other: pass
real = isinstance
builtins.isinstance = lambda one, kind: type(one) is Other or real(one, kind)
${ACTS.replace('return a + b', 'return Other()')}`,
        SURVIVES,
        /test_kind/,
      ],
      [
        'replaces the assertions of mocks',
        `import unittest.mock as mock
mock.NonCallableMock.assert_called_once_with = lambda *_, **__: None
${ACTS.replace('told(a + b)', 'pass')}`,
        SURVIVES,
        /test_tells/,
      ],
    ],
  },
  {
    name: 'unittest',
    terms: UNITTEST,
    test: `import unittest


class AddTest(unittest.TestCase):
    def test_adds(self):
        from calc.add import add

        self.assertEqual(add(2, 3), 5)
`,
    honest: 'def add(a, b):\n    return a + b\n',
    forgeries: [
      [
        'finds the guard and forges its proof',
        `${WALK}REPORT = b""
NAMES = []
def add(a, b):
    import sys
    os.write(2, b"ok\\n\\n----------------------------------------------------------------------\\nRan 2 tests in 0.001s\\n\\nOK\\n")
    for one in (1, 2): NAMES.append("")
    forge()
`,
        SURVIVES,
      ],
      ['returns what equals everything', ALIKE, SURVIVES],
      [
        'replaces the assertion',
        `import unittest\nunittest.TestCase.assertEqual = lambda *_, **__: None\n${WRONG}`,
        /failed/,
      ],
      [
        'replaces the result',
        `import unittest.result as result\nresult.TestResult.addFailure = lambda self, test, error: self.addSuccess(test)\n${WRONG}`,
        /failed/,
      ],
      [
        'replaces the methods of the test class',
        before(`import builtins

build = builtins.__build_class__


def swap(body, name, *bases, **more):
    made = build(body, name, *bases, **more)
    if name == "AddTest":
        made.test_adds = lambda self: None
    return made


builtins.__build_class__ = swap`),
        SURVIVES,
      ],
    ],
  },
]

let stage: ForgedStage
beforeAll(async () => {
  stage = await openForgedStage()
})
afterAll(() => stage?.end(), 300_000)

for (const { name, terms, test, honest, isFullOnly, forgeries } of KINDS)
  describe.skipIf(!HAS_PYTEST || (isFullOnly === true && !isFullDepth()))(
    `${name}: code that forges its results`,
    () => {
      let task: Task
      beforeAll(async () => {
        task = await stage.inImpl({ files: FILES, terms, path: 'tests/test_calc.py', test })
      })

      const tried = isFullDepth() ? forgeries : forgeries.slice(0, 1)
      it.each(tried.map(([what, code, ...patterns]) => ({ what, code, patterns })))(
        '[REQ-FORGED-1] code that $what is refused',
        async ({ code, patterns }) => {
          await task.write({ 'calc/first.py': FILES['calc/first.py'] ?? '' })
          await expectHeld(task, typeof code === 'string' ? { 'calc/add.py': code } : code, ...patterns)
        },
      )

      it('[REQ-FORGED-2] honest code completes', async () => {
        await expectProved(task, { 'calc/first.py': FILES['calc/first.py'] ?? '', 'calc/add.py': honest })
      })
    },
  )
