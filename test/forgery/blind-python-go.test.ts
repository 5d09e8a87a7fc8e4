import { afterAll, beforeAll, describe, it } from 'vitest'
import type { Files } from '../e2e/projects.js'
import { code, GO_PASSES, GO_PROJECT, goCode, HAS_GO, HAS_PYTEST, PYTHON } from './blind-projects.js'
import { expectRefused, type Forge, openForge, type Task } from './forge.js'
import { describeShape, type Forgery, patient } from './shape.suite.js'
import { TOLD_APART } from './sums.js'

let forge: Forge
beforeAll(async () => {
  forge = await openForge()
})
afterAll(() => forge?.end())

const FAILED = /1 failed: .*test_adds/
const SURVIVED = /test_adds.* still passes when the expected value is changed/
const file = (name: string, text: string, told: RegExp): Forgery => code('src/add.py', name, text, told)
/** Runs `body` with `item`, the running test, which it finds by the frames above. */
const withItem = (body: string): string => `import sys


def add(a, b):
    frame = sys._getframe(1)
    while frame:
        item = frame.f_locals.get('pyfuncitem') or frame.f_locals.get('item')
        if item is not None:
            ${body}
            break
        frame = frame.f_back
    return 5
`
const equal = (condition: string, more = ''): string => `import sys


class Any:
    def __eq__(self, other):
        return ${condition}

${more}
def add(a, b):
    return Any()
`
/** Puts a `setup_function` into the module of the test that gives `test` the code `swapped`. */
const setUp = (swapped: string): string => `import sys

nothing = (lambda: None).__code__
frame = sys._getframe(1)
while frame:
    if frame.f_globals.get('__name__', '').endswith('test_add'):
        frame.f_globals['setup_function'] = lambda test: setattr(test, '__code__', ${swapped})
    frame = frame.f_back


def add(a, b):
    return 5
`

const WITH_PYTEST: readonly Forgery[] = [
  file('the result equals everything', equal('True'), SURVIVED),
  file(
    'the result equals everything unless single files are named on the command line',
    equal('len(sys.argv) < 9'),
    SURVIVED,
  ),
  file(
    'a trace function jumps over the assertion',
    `import sys


def jump(frame, event, arg):
    if event == 'line' and 'result' in frame.f_locals:
        frame.f_lineno += 1
    return jump


def add(a, b):
    sys._getframe(1).f_trace = jump
    sys.settrace(lambda *rest: None)
    return 5
`,
    FAILED,
  ),
  file(
    'a profile function swaps the code of the test',
    `import sys


def swap(frame, event, arg):
    item = frame.f_locals.get('pyfuncitem')
    if item is not None:
        item.obj.__code__ = (lambda: None).__code__


sys.setprofile(swap)


def add(a, b):
    return 5
`,
    /only installed packages trace an observed run/,
  ),
  file(
    'the running test is marked as one that fails',
    withItem("item.add_marker(__import__('pytest').mark.xfail)"),
    /1 skipped/,
  ),
  file(
    'a plugin that the code registers changes the report',
    `class Kind:
    def pytest_runtest_logreport(self, report):
        report.outcome = 'passed'
        report.longrepr = None


${withItem('item.config.pluginmanager.register(Kind())')}`,
    /exit code 1/,
  ),
  file(
    'the process of the tests becomes two, and the first one leaves with 0',
    'import os\n\n\ndef add(a, b):\n    child = os.fork()\n    if child:\n        os.waitpid(child, 0)\n        os._exit(0)\n    return 5\n',
    FAILED,
  ),
  file(
    'the collector of the file leaves the test out',
    `import sys

frame = sys._getframe(1)
while frame:
    one = frame.f_locals.get('self')
    if hasattr(one, 'funcnamefilter'):
        real = one.funcnamefilter
        one.funcnamefilter = lambda name: real(name) and name != 'test_adds'
        break
    frame = frame.f_back


def add(a, b):
    return 5
`,
    /1 test recorded at RED did not run and pass: .*test_add/,
  ),
  // The rewritten test is a closure, which takes no code without its free variables.
  file('set-up that the code puts into the module of the test swaps its body', setUp('nothing'), TOLD_APART),
  file(
    'set-up that the code puts into the module of the test swaps its body, also that of a closure',
    setUp('nothing.replace(co_freevars=test.__code__.co_freevars)'),
    SURVIVED,
  ),
]

const go = (name: string, write: Files, told: RegExp): readonly [string, Files, RegExp] => [name, write, told]
const PRINT = `os.Stdout.WriteString("${GO_PASSES}")`
const GO_FAILED = /1 failed: adder > TestAdd/
const GO_SURVIVED = /TestAdd.* still passes when the expected value is changed/
const WITH_GO: readonly (readonly [string, Files, RegExp])[] = [
  go('init prints results and exits', goCode(['os'], `func init() {\n\t${PRINT}\n\tos.Exit(0)\n}`), GO_SURVIVED),
  go(
    'the code prints results in the middle of the test and exits past the guard of testing',
    goCode(['os', 'syscall'], '', `${PRINT}\n\tsyscall.Exit(0)\n\treturn 5`),
    /TestAdd/,
  ),
  go(
    'init adds a flag that skips the test',
    goCode(['os'], 'func init() { os.Args = append(os.Args, "-test.skip=TestAdd$") }'),
    /TestAdd is not in the report, but other tests that are compiled with it are/,
  ),
  go(
    'TestMain in a source drops the exit code',
    goCode(['os', 'testing'], 'func TestMain(m *testing.M) {\n\tm.Run()\n\tos.Exit(0)\n}'),
    GO_FAILED,
  ),
  go('the goroutine of the test ends early', goCode(['runtime'], '', 'runtime.Goexit()\n\treturn 5'), GO_FAILED),
  go('the code panics with nil', goCode([], '', 'panic(nil)'), GO_FAILED),
]

describe.skipIf(!HAS_PYTEST)('pytest', () => describeShape({ ...PYTHON, forgeries: WITH_PYTEST }, () => forge))

// The first run compiles the standard library.
describe.skipIf(!HAS_GO)(GO_PROJECT.name, () => {
  let task: Task
  beforeAll(async () => {
    task = await forge.inImpl({ ...GO_PROJECT, contract: patient() })
  }, 600_000)

  it.each(WITH_GO)('[REQ-FORGE-2] %s', async (_, files, told) => {
    await task.write(files)
    await expectRefused(task, told)
  })

  it('[REQ-FORGE-3] the honest change in the same repository completes', async () => {
    await task.write(GO_PROJECT.honest)
    await task.completes()
    await task.agent.finish('feat: add')
  })
})
