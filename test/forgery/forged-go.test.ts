import { afterAll, beforeAll, describe, it } from 'vitest'
import type { Files, Task } from '../inverted/stage.js'
import { expectHeld, expectProved, type ForgedStage, openForgedStage, SURVIVES } from './forged-stage.js'
import { HAS_GO } from './go-project.js'

const TEST = `package calc

import "testing"

func TestAdds(t *testing.T) {
	if got := Add(2, 3); got != 5 {
		t.Errorf("got %d", got)
	}
}

func TestPoint(t *testing.T) {
	if !Origin().Equal(Point{X: 1, Y: 2}) {
		t.Error("another point")
	}
}
`
const PROJECT = {
  files: { 'go.mod': 'module example.com/calc\n\ngo 1.22\n', 'calc.go': 'package calc\n' },
  terms: { run: 'go test -v ./...', format: 'go', inverted: '{max_seconds: 900}' },
  path: 'calc_test.go',
  test: TEST,
}
const POINT = 'type Point struct{ X, Y int }\n'
const HONEST = `package calc

${POINT}
func Origin() Point { return Point{1, 2} }

func (p Point) Equal(q Point) bool { return p == q }

func Add(a, b int) int { return a + b }
`
/** Code that does something first, and nothing of what the tests want. */
const wrong = (imports: readonly string[], more: string, add = 'return 4'): Files => ({
  'calc.go': `package calc

import (
${imports.map((one) => `\t${one}`).join('\n')}
)

${POINT}
func Origin() Point { return Point{} }

func (p Point) Equal(q Point) bool { return p == q }

${more}

func Add(a, b int) int {
	${add}
}
`,
})
const REPORT = ['TestAdds', 'TestPoint'].map((name) => `=== RUN   ${name}\\n--- PASS: ${name} (0.00s)\\n`).join('')
const PRINTS = `syscall.Write(1, []byte("${REPORT}PASS\\n"))\n\tsyscall.RawSyscall(syscall.SYS_EXIT_GROUP, 0, 0, 0)`
// Without packages that would have to be compiled first.
const HASH =
  'func hash(text []byte) uint64 {\n\tsum := uint64(5381)\n\tfor _, b := range text {\n\t\tsum = sum*33 ^ uint64(b)\n\t}\n\treturn sum\n}'
const DIGEST = Buffer.from(TEST).reduce((sum, byte) => BigInt.asUintN(64, sum * 33n) ^ BigInt(byte), 5381n)

const FORGERIES: readonly (readonly [string, Files, readonly RegExp[]])[] = [
  ['prints a report in init() and exits', wrong(['"syscall"'], `func init() {\n\t${PRINTS}\n}`), [SURVIVES]],
  [
    'prints it only while the test file is as it was written',
    wrong(
      ['"os"', '"syscall"'],
      `${HASH}

func init() {
	if text, _ := os.ReadFile("calc_test.go"); hash(text) == ${DIGEST} {
		${PRINTS}
	}
}`,
    ),
    [/TestAdds, .*TestPoint \(each of them\) passes as written, but not when its test file is taken away/],
  ],
  [
    'prints it unless the test file says something else',
    wrong(
      ['"os"', '"syscall"'],
      `${HASH}

func init() {
	if text, err := os.ReadFile("calc_test.go"); err != nil || hash(text) == ${DIGEST} {
		${PRINTS}
	}
}`,
    ),
    [SURVIVES],
  ],
  [
    'carries the test file inside, and prints it while that is as it was written',
    wrong(
      ['_ "embed"', '"syscall"'],
      `//go:embed calc_test.go
var text []byte

${HASH}

func init() {
	if hash(text) == ${DIGEST} {
		${PRINTS}
	}
}`,
    ),
    [/no test is proved/],
  ],
  [
    'overwrites the machine code of testing.T',
    wrong(
      ['"reflect"', '"runtime"', '"syscall"', '"testing"', '"unsafe"'],
      `func init() {
	near := reflect.ValueOf((*testing.T).Errorf).Pointer() &^ 15
	for at := near - 1<<20; at < near+1<<20; at += 16 {
		f := runtime.FuncForPC(at)
		if f != nil && f.Name() == "testing.(*common).Fail" {
			syscall.Syscall(syscall.SYS_MPROTECT, f.Entry()&^4095, 8192, 7)
			*(*byte)(unsafe.Pointer(f.Entry())) = 0xc3
			return
		}
	}
}`,
    ),
    [SURVIVES],
  ],
  ['exits with 0 in the middle', wrong(['"os"'], '', 'os.Exit(0)\n\treturn 0'), [/1 failed: .*TestAdds/]],
  [
    'exits with 0 past the runtime',
    wrong(['"syscall"'], '', 'syscall.RawSyscall(syscall.SYS_EXIT_GROUP, 0, 0, 0)\n\treturn 0'),
    [/the run is void: calc_test\.go:11 TestPoint is not in the report/],
  ],
  [
    'ends the goroutine of the test',
    wrong(['"runtime"'], '', 'runtime.Goexit()\n\treturn 0'),
    [/1 failed: .*TestAdds/],
  ],
  [
    'prints results of other tests and exits',
    wrong(
      ['"syscall"'],
      `func init() {\n\t${PRINTS.replaceAll('TestAdds', 'TestOther').replaceAll('TestPoint', 'TestMore')}\n}`,
    ),
    [/the run is void: calc_test\.go:5 TestAdds is not in the report/],
  ],
  [
    'compares with a method that is always true',
    {
      'calc.go': HONEST.replace('return p == q', 'return true').replace('Point{1, 2}', 'Point{}'),
    },
    [SURVIVES, /TestPoint/],
  ],
]

let stage: ForgedStage
let task: Task
beforeAll(async () => {
  if (!HAS_GO) return
  stage = await openForgedStage()
  task = await stage.inImpl(PROJECT)
}, 900_000)
afterAll(() => stage?.end(), 900_000)

describe.skipIf(!HAS_GO)('Go: code that forges its results', () => {
  it.each(FORGERIES)(
    '[REQ-FORGED-1] code that %s is refused',
    (_, code, patterns) => expectHeld(task, code, ...patterns),
    900_000,
  )

  it('[REQ-FORGED-2] honest code completes', () => expectProved(task, { 'calc.go': HONEST }), 900_000)
})
