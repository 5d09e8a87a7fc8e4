import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { HAS_GO } from '../forgery/go-project.js'
import { openStage, type Stage, type Task } from './stage.js'

const test = (name: string, body: string): string => `func ${name}(t *testing.T) {\n\t${body}\n}\n`
const file = (...tests: readonly string[]): string => `package carts\n\nimport "testing"\n\n${tests.join('\n')}`
const FILES = {
  'go.mod': 'module example.org/carts\n\ngo 1.21\n',
  'price.go': 'package carts\n\nfunc Cents(euros int) int { return euros * 100 }\n',
  // Runs before all other tests of the package, and ends their program.
  'a_test.go': file(
    test('TestNothing', 'if Cents(0) != 0 {\n\t\tt.Error("not 0")\n\t}'),
    test('TestPanicsForLong', 'var none *int\n\tt.Log("about to fail")\n\tif *none == 1 {\n\t\tt.Error("one")\n\t}'),
  ),
  'b_test.go': file(test('TestCents', 'if Cents(2) != 200 {\n\t\tt.Error("not 200")\n\t}')),
}
const TERMS = { run: 'go test -json ./...', inverted: '{max_seconds: 900}' }
const HONEST = file(test('TestSum', 'if got := Sum(5, 7); got != 12 {\n\t\tt.Errorf("got %d", got)\n\t}'))
const sum = (body: string): Record<string, string> => ({
  'sum.go': `package carts\n\nfunc Sum(a, b int) int { ${body} }\n`,
})

describe.skipIf(!HAS_GO)('a Go repository in which an old test panics', { timeout: 1_200_000 }, () => {
  let stage: Stage
  beforeAll(async () => {
    stage = await openStage()
  }, 120_000)
  afterAll(() => stage.end())

  const inImpl = async (text: string, run = TERMS.run): Promise<Task> => {
    const task = await stage.task(FILES, { ...TERMS, run })
    await task.write({ 'z_test.go': text })
    await task.red({ 'z_test.go': ['AC-1'] })
    return task
  }
  const tell = async (task: Task): Promise<string> => (await task.green()).map(({ message }) => message).join('\n')

  it('[REQ-MATRIX-5] a test that cannot fail is found out, though the old one ends the program before it', async () => {
    const task = await inImpl(
      file(test('TestSum', 'if got := Sum(5, 7); got != got {\n\t\tt.Errorf("got %d", got)\n\t}')),
    )
    await task.write(sum('return 0'))
    expect(await tell(task)).toMatch(/no test is proved for "AC-1"/)
  })

  it('[REQ-MATRIX-5] code that is wrong fails the new test, and code that breaks a later one fails that', async () => {
    const task = await inImpl(HONEST)
    await task.write(sum('return 4'))
    expect(await tell(task)).toMatch(/1 failed: .*TestSum/)
    await task.write({
      ...sum('return a + b'),
      'price.go': 'package carts\n\nfunc Cents(euros int) int { return 7 }\n',
    })
    expect(await tell(task)).toMatch(/Passed before the task: .*TestCents/)
  })

  it('[REQ-MATRIX-5] where the program cannot be run again, a report without the new test does not count', async () => {
    const task = await inImpl(HONEST, 'go test -v ./...')
    await task.write(sum('return 4'))
    expect(await tell(task)).toMatch(/z_test\.go:5 TestSum is not in the report/)
  })

  it('[REQ-MATRIX-5] an honest agent gets through', async () => {
    const task = await inImpl(HONEST)
    await task.write(sum('return a + b'))
    expect(await task.green()).toEqual([])
    expect(await task.ran()).toMatchObject({ passed: 3, failed: 1 })
  })
})
