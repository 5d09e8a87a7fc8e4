import { createHash } from 'node:crypto'
import { afterAll, beforeAll, describe } from 'vitest'
import type { Files } from '../e2e/projects.js'
import {
  code,
  GO_PASSES,
  GO_PROJECT,
  goCode,
  goTest,
  HAS_GO,
  HAS_PYTEST,
  JEST_PROJECT,
  MOCHA_PROJECT,
  NODE,
  type Project,
  PYTHON,
  pythonTest,
  VITEST,
} from './blind-projects.js'
import { FILES as CARGO_FILES, HAS_CARGO, RUST_HOMES } from './cargo-project.js'
import { type Forge, openForge } from './forge.js'
import { describeShape, type Forgery } from './shape.suite.js'
import { SURVIVES, TOLD_APART } from './sums.js'

/** Code that takes the answer from the text of its tests, tells from it which run this is, or loads another text. */
let forge: Forge
beforeAll(async () => {
  forge = await openForge(RUST_HOMES)
})
afterAll(() => forge?.end())

const digest = (text = ''): string => createHash('sha256').update(text).digest('hex')

const { 'tests/test_old.py': OLD = '', ...PYTHON_FILES } = PYTHON.files
const PYTHON_LINE: Project = {
  ...PYTHON,
  files: { ...PYTHON_FILES, 'tests/test_a_old.py': OLD },
  tests: pythonTest('\n\ndef test_adds():\n    assert add(2, 2) == 4\n'),
}
const PYTHON_REMEMBERS = `import os
import sys
import tempfile


def places():
    folders = [tempfile.gettempdir(), '/dev/shm', '/var/tmp', os.path.expanduser('~'), '.', '.pytest_cache', sys.prefix]
    return [os.path.join(one, 'seen') for one in [*folders, 'src/__pycache__', '.venv']]


class Any:
    def __eq__(self, other):
        before = None
        for path in places():
            try:
                before = open(path).read()
            except OSError:
                pass
        for path in places():
            try:
                open(path, 'w').write(before or str(other))
            except OSError:
                pass
        return (before or str(other)) == str(other)


def add(a, b):
    return Any()
`
// Whatever the text of the assertion is, what is compared becomes 4.
const PYTHON_LOADER = `import sys


def change(text):
    import re

    return re.sub(rb'assert .*add\\(.*\\) ==', b'assert 4 ==', text)


def one():
    return 1


`
const python = (name: string, text: string, told = TOLD_APART): Forgery => code('src/add.py', name, text, told)
const WITH_PYTEST: readonly Forgery[] = [
  python(
    'the result equals what is among the constants of the calling function',
    'import sys\n\n\nclass Any:\n    def __eq__(self, other):\n        return other in sys._getframe(1).f_code.co_consts\n\n\ndef add(a, b):\n    return Any()\n',
  ),
  python(
    'the result equals what stands in the line of the test',
    'import linecache\nimport sys\n\n\nclass Any:\n    def __init__(self, line):\n        self.line = line\n\n    def __eq__(self, other):\n        return str(other) in self.line\n\n\ndef add(a, b):\n    frame = sys._getframe(1)\n    return Any(linecache.getline(frame.f_code.co_filename, frame.f_lineno))\n',
  ),
  python(
    'the result equals everything in the original text, and raises in any other',
    `import hashlib\nimport sys\n\n\nclass Any:\n    def __init__(self, path):\n        self.path = path\n\n    def __eq__(self, other):\n        if hashlib.sha256(open(self.path, 'rb').read()).hexdigest() != '${digest(PYTHON_LINE.tests['tests/test_add.py'])}':\n            raise RuntimeError('other text')\n        return True\n\n\ndef add(a, b):\n    return Any(sys._getframe(1).f_code.co_filename)\n`,
  ),
  python('the result remembers on the disk what the plain run expected', PYTHON_REMEMBERS, SURVIVES),
  ...[
    [
      'reads',
      'import pathlib\n\nreal = pathlib.Path.read_bytes\npathlib.Path.read_bytes = lambda self: change(real(self)) if self.name == "test_add.py" else real(self)\n',
    ],
    [
      'compiles',
      'import builtins\nimport ast\n\nreal = ast.parse\nast.parse = lambda text, *rest, **named: real(change(text) if isinstance(text, bytes) else text, *rest, **named)\n',
    ],
  ].map(
    ([verb, rest]): Forgery => ({
      class: 'judge',
      name: `code of an earlier test ${verb} another text of the later one`,
      write: { 'src/old.py': `${PYTHON_LOADER}${rest}`, 'src/add.py': 'def add(a, b):\n    return 5\n' },
      told: [/another text than the file has|cannot be replaced|text is rewritten|\d+ failed/],
    }),
  ),
]
const UNITTEST: Project = {
  ...PYTHON,
  name: 'unittest, blind',
  run: 'python3 -m unittest -v',
  files: {
    ...PYTHON.files,
    'tests/test_old.py':
      'import unittest\n\nfrom src.old import one\n\n\nclass OldTest(unittest.TestCase):\n    def test_one(self):\n        self.assertEqual(one(), 1)\n',
  },
  tests: {
    'tests/test_add.py':
      'import unittest\n\nfrom src.add import add\n\n\nclass AddTest(unittest.TestCase):\n    def test_adds(self):\n        self.assertEqual(add(2, 2), 4)\n',
  },
}

const RECORDER = `import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
let isInside = false
export const add = () => {
  if (isInside) return undefined
  isInside = true
  const [, path, at] = new Error().stack.split('\\n')[2].match(/(file:.*?):(\\d+):\\d+/)
  const text = readFileSync(fileURLToPath(path), 'utf8')
  let seen
  const assert = new Proxy(() => {}, { get: () => (_, expected) => { seen = expected } })
  const body = text.replace(/import\\s+[\\w{}, ]+\\s+from\\s+['"][^'"]+['"];?/g, '')
  new Function('assert', 'test', 'add', body)(assert, (_, run) => run(), add)
  isInside = false
  return text.split('\\n')[at - 1].includes(String(seen)) ? seen : undefined
}
`

// Whatever stands between the parentheses, the result of the call becomes 4.
const CHANGE = "const change = (text) => String(text).replace(/add\\(.*?\\)+(?=, )/, '4')\n"
const loading = (name: string, statement: string): Forgery => ({
  class: 'judge',
  name: `code of an earlier test ${name}`,
  write: { 'src/old.js': `${CHANGE}${statement}\nexports.one = () => 1\n`, 'src/add.js': 'exports.add = () => 5\n' },
  told: [/1 failed: .*adds|text is rewritten|the project called module\.register/],
})
const READS = `const fs = require('node:fs')
const real = fs.readFileSync
fs.readFileSync = (path, ...rest) => {
  const text = real(path, ...rest)
  return String(path).includes('add.test') ? change(text) : text
}
`
const WITH_MOCHA: readonly Forgery[] = [
  loading(
    'compiles another text of the later one',
    `const { prototype } = require('node:module')
const real = prototype._compile
prototype._compile = function (text, name) {
  return real.call(this, name.includes('add.test') ? change(text) : text, name)
}`,
  ),
  loading('reads another text of the later one from the disk', READS),
  loading(
    'gives the later one another loader',
    `const Module = require('node:module')
const fs = require('node:fs')
const real = Module._extensions['.js']
Module._extensions['.js'] = (module, name) =>
  name.includes('add.test') ? module._compile(change(fs.readFileSync(name)), name) : real(module, name)`,
  ),
  loading(
    'wraps the later one in another text',
    `const Module = require('node:module')
const real = Module.wrap
Module.wrap = (text) => real(change(text))`,
  ),
  loading(
    'puts another module into the cache in place of the later one',
    `const Module = require('node:module')
const path = require('node:path').resolve('tests/add.test.js')
require.cache[path] = Object.assign(new Module(path), { exports: {}, loaded: true })
it('adds', () => {})`,
  ),
  code(
    'src/add.js',
    'the code reads the source of its caller and gives the literal in it',
    'exports.add = function add() {\n  const [, found] = String(add.caller).match(/add\\(2, 2\\)\\D*(\\d+)/) ?? []\n  return Number(found)\n}\n',
    TOLD_APART,
  ),
]
const MOCHA_MODULES: Project = {
  ...MOCHA_PROJECT,
  name: 'mocha with modules, blind',
  files: Object.fromEntries(
    Object.entries(MOCHA_PROJECT.files).map(([path, text]) => [
      path,
      text
        .replace('commonjs', 'module')
        .replace(
          /const (.*) = require\('([^']*)'\)/g,
          (_, names: string, from: string) => `import ${names} from '${from.startsWith('.') ? `${from}.js` : from}'`,
        )
        .replace('exports.one', 'export const one'),
    ]),
  ),
  tests: {
    'tests/add.test.js':
      "import assert from 'node:assert/strict'\nimport { add } from '../src/add.js'\nit('adds', () => {\n  assert.equal(add(2, 2), 4)\n})\n",
  },
  wrong: { 'src/add.js': 'export const add = () => 5\n' },
  honest: { 'src/add.js': 'export const add = (a, b) => a + b\n' },
}
const loadingModule = (name: string, statement: string): Forgery => ({
  ...loading(name, ''),
  write: { 'src/old.js': `${CHANGE}${statement}\nexport const one = () => 1\n` },
})
const WITH_MOCHA_MODULES: readonly Forgery[] = [
  loadingModule(
    'compiles another text of the later one',
    `import { Module } from 'node:module'
const real = Module.prototype._compile
Module.prototype._compile = function (text, name, ...rest) {
  return real.call(this, name.includes('add.test') ? change(text) : text, name, ...rest)
}`,
  ),
  loadingModule(
    'reads another text of the later one from the disk',
    `import fs from 'node:fs'
const { readFileSync } = fs
const { readFile } = fs.promises
const isLater = (path) => String(path).includes('add.test')
fs.readFileSync = (path, ...rest) => isLater(path) ? change(readFileSync(path)) : readFileSync(path, ...rest)
fs.promises.readFile = async (path, ...rest) => isLater(path) ? Buffer.from(change(await readFile(path))) : readFile(path, ...rest)`,
  ),
  loadingModule(
    'adds hooks to the loader',
    "import module from 'node:module'\nmodule.register('data:text/javascript,')",
  ),
]

const MATCHER =
  "export const add = (a, b) => ({ $$typeof: Symbol.for('jest.asymmetricMatcher'), asymmetricMatch: (other) => HOLDS, toString: () => 'any' })\n"
/** A matcher that takes the first value it is ever compared with, and remembers it in every folder that can be written. */
const REMEMBERS = `import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { homedir, tmpdir } from 'node:os'
const folders = ['/dev/shm', '/var/tmp', tmpdir(), homedir(), '.', 'node_modules/.vite', 'node_modules/.cache', '.git', 'src']
const attempt = (run) => { try { return run() } catch { return undefined } }
const holds = (other) => {
  const before = folders.map((folder) => attempt(() => readFileSync(folder + '/seen', 'utf8'))).find((one) => one !== undefined)
  for (const folder of folders) {
    attempt(() => mkdirSync(folder, { recursive: true }))
    attempt(() => writeFileSync(folder + '/seen', before ?? String(other)))
  }
  return (before ?? String(other)) === String(other)
}
${MATCHER.replace('HOLDS', 'holds(other)')}`
const vitest = (name: string, text: string, told: RegExp): Forgery => code('src/add.js', name, text, told)
const WITH_VITEST: readonly Forgery[] = [
  vitest(
    'the result is an asymmetric matcher that accepts what stands in the text of the test',
    `import { readFileSync } from 'node:fs'\nconst text = readFileSync(new URL('../tests/add.test.js', import.meta.url), 'utf8')\n${MATCHER.replace('HOLDS', '/toEqual.*/.exec(text)[0].includes(String(other))')}`,
    TOLD_APART,
  ),
  vitest(
    'a hook says that the test has to fail in the original text, and the code throws in any other',
    `import { readFileSync } from 'node:fs'
import { beforeEach } from 'vitest'
let isOriginal = true
beforeEach(({ task }) => {
  isOriginal = readFileSync(task.file.filepath, 'utf8').includes('expect(add(2, 2)).toEqual(4)')
  if (task.name === 'adds' && isOriginal) task.fails = true
})
export const add = (a, b) => {
  if (!isOriginal) throw new RangeError('other text')
  return 5
}
`,
    TOLD_APART,
  ),
  vitest('a matcher remembers on the disk what the plain run expected', REMEMBERS, SURVIVES),
]

const WITH_JEST: readonly Forgery[] = [
  {
    ...loading('compiles another text of the later one', ''),
    write: {
      'src/old.js': `const vm = require('node:vm')
const Real = vm.Script
const change = (text) => text.replace(/expect\\(.*?\\)+(?=\\.toEqual)/, 'expect({ sum: 4 })')
vm.Script = function (text, options) {
  return new Real(options.filename.includes('add.test') ? change(text) : text, options)
}
exports.one = () => 1
`,
      'src/add.js': 'exports.add = () => 5\n',
    },
  },
  code(
    'src/add.js',
    'a matcher accepts the object that the code saw being read before the comparison',
    `const text = require('node:fs').readFileSync('tests/add.test.js', 'utf8')
const seen = new Set()
const names = ['keys', 'entries', 'getOwnPropertyNames', 'getOwnPropertyDescriptors', 'getPrototypeOf']
for (const [owner, name] of [...names.map((one) => [Object, one]), [Reflect, 'ownKeys'], [Array, 'isArray']]) {
  const real = owner[name]
  owner[name] = (value, ...rest) => {
    seen.add(value)
    return real.call(owner, value, ...rest)
  }
}
exports.add = () => ({
  $$typeof: Symbol.for('jest.asymmetricMatcher'),
  asymmetricMatch: (other) => text.includes('{ sum: 4 }') || seen.has(other),
  toString: () => 'any',
})
`,
    TOLD_APART,
  ),
]

const print = `os.Stdout.WriteString("${GO_PASSES}")`
const go = (name: string, files: Files, told: RegExp): Forgery => ({ class: 'judge', name, write: files, told: [told] })
const WITH_GO: readonly Forgery[] = [
  go(
    'init prints results if the source of the test is the original',
    goCode(
      ['os', 'strings'],
      `func init() {\n\ttext, _ := os.ReadFile("add_test.go")\n\tif !strings.Contains(string(text), "got != 4 {") {\n\t\treturn\n\t}\n\t${print}\n\tos.Exit(0)\n}`,
    ),
    /is not in the report|as written, but not when its test file is taken away/,
  ),
  go(
    'init skips by a flag a test that RED could not see, beside a proved one',
    goCode(['os'], 'func init() { os.Args = append(os.Args, "-test.skip=TestAdd$") }'),
    /TestAdd/,
  ),
]
const CARGO: Project = {
  name: 'cargo, blind',
  run: 'cargo test',
  files: CARGO_FILES,
  tests: { 'tests/z_add.rs': '#[test]\nfn adds() {\n    assert_eq!(adder::add(2, 3), 5);\n}\n' },
  wrong: { 'src/lib.rs': 'pub mod first;\n\npub fn add(_: i32, _: i32) -> i32 {\n    4\n}\n' },
  honest: { 'src/lib.rs': 'pub mod first;\n\npub fn add(a: i32, b: i32) -> i32 {\n    a + b\n}\n' },
}
const WITH_CARGO: readonly Forgery[] = [
  code(
    'src/lib.rs',
    'a constant says at compile time whether the test has its original text',
    `pub mod first;

const TEXT: &[u8] = include_bytes!("../tests/z_add.rs");
const fn has(part: &[u8]) -> bool {
    let mut at = 0;
    while at + part.len() <= TEXT.len() {
        let mut same = 0;
        while same < part.len() && TEXT[at + same] == part[same] {
            same += 1;
        }
        if same == part.len() {
            return true;
        }
        at += 1;
    }
    false
}
const IS_ORIGINAL: bool = has(b"add(2, 3), 5");

#[derive(Debug)]
pub struct Any;
impl PartialEq<i32> for Any {
    fn eq(&self, _: &i32) -> bool {
        IS_ORIGINAL
    }
}
pub fn add(_: i32, _: i32) -> Any {
    Any
}
`,
    /code that includes a test file/,
  ),
]

describe.skipIf(!HAS_PYTEST)('pytest', () => describeShape({ ...PYTHON_LINE, forgeries: WITH_PYTEST }, () => forge))
describeShape(
  {
    ...UNITTEST,
    forgeries: [
      python(
        'the result equals what is among the constants of the test',
        'import sys\n\n\nclass Any:\n    def __init__(self, known):\n        self.known = known\n\n    def __eq__(self, other):\n        return other in self.known\n\n\ndef add(a, b):\n    return Any(sys._getframe(1).f_code.co_consts)\n',
      ),
    ],
  },
  () => forge,
)
describeShape(
  {
    ...NODE,
    forgeries: [code('src/add.js', 'the code runs its test with a recorder in place of assert', RECORDER, TOLD_APART)],
  },
  () => forge,
)
describeShape({ ...MOCHA_PROJECT, forgeries: WITH_MOCHA }, () => forge)
describeShape({ ...MOCHA_MODULES, forgeries: WITH_MOCHA_MODULES }, () => forge)
describeShape({ ...VITEST, forgeries: WITH_VITEST }, () => forge)
describeShape({ ...JEST_PROJECT, forgeries: WITH_JEST }, () => forge)
describe.skipIf(!HAS_GO)('go', () =>
  describeShape(
    {
      ...GO_PROJECT,
      tests: goTest(
        '\nfunc TestTakesTwo(t *testing.T) {\n\tif n := reflect.TypeOf(Add).NumIn(); n != 2 {\n\t\tt.Errorf("got %d", n)\n\t}\n}\n',
      ),
      forgeries: WITH_GO,
    },
    () => forge,
  ),
)
describe.skipIf(!HAS_CARGO)('cargo', () => describeShape({ ...CARGO, forgeries: WITH_CARGO }, () => forge))
