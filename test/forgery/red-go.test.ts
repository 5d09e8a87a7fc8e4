import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { covers, type Files, openStage, type Stage } from './red-stage.js'

const OLD = `package adder

import "testing"

func TestOldWorks(t *testing.T) {
	if Old() != 1 {
		t.Errorf("got %d, want 1", Old())
	}
}

func TestOldIsBroken(t *testing.T) {
	if Old() != 2 {
		t.Errorf("got %d, want 2", Old())
	}
}

func TestOldIsSkipped(t *testing.T) {
	t.Skip("later")
}
`
const ADD = `package adder

import "testing"

func TestAdds(t *testing.T) {
	if Add(2, 3) != 5 {
		t.Errorf("got %d, want 5", Add(2, 3))
	}
}
`
const PROJECT: Files = {
  'go.mod': 'module example.org/adder\n\ngo 1.20\n',
  'old.go': 'package adder\n\nfunc Old() int { return 1 }\n',
  'old_test.go': OLD,
}
const TERMS = { run: 'go test -v ./...', format: 'go', tests: '{patterns: ["**/*_test.go"]}' }
const testing = (imports: string, body: string) =>
  `package adder\n\nimport (\n\t"testing"\n${imports})\n\nfunc TestAdds(t *testing.T) {\n${body}}\n`

describe('RED with Go', () => {
  let stage: Stage
  let isThere = false
  beforeAll(async () => {
    stage = await openStage()
    const probe = await stage.worker({ 'a.txt': 'a' }, TERMS)
    isThere = ((await probe.bash('go version || true')).result as { stdout: string }).stdout.startsWith('go version')
  })
  afterAll(() => stage.end())

  it('[REQ-RED-1] [REQ-RED-2] [REQ-RED-5] old failures open no RED and are not counted against honest work', async (context) => {
    if (!isThere) context.skip('the sandbox shows no Go')
    const agent = await stage.worker(PROJECT, TERMS)
    expect(await agent.red([covers('old_test.go')])).toContain('TestOldIsBroken failed before the task too')
    await agent.write({ 'add_test.go': ADD })
    expect(await agent.red([covers('add_test.go')])).toBe('')
    await agent.write({ 'add.go': 'package adder\n\nfunc Add(a, b int) int { return a + b }\n' })
    await agent.write({ 'old.go': 'package adder\n\nfunc Old() int { return 2 }\n' })
    expect(await agent.green()).toMatch(/Passed before the task: .*TestOldWorks/)
    await agent.write({ 'old.go': PROJECT['old.go'] ?? '' })
    expect(await agent.green()).toBe('')
    expect(agent.warnings()).toMatch(/Failed before the task too: .*TestOldIsBroken/)
  }, 600_000)

  it('[REQ-RED-1] a criterion can name a subtest before the package builds, but none that the file does not have', async (context) => {
    if (!isThere) context.skip('the sandbox shows no Go')
    const agent = await stage.worker(PROJECT, TERMS)
    const body =
      '\tt.Run("two numbers", func(t *testing.T) {\n\t\tif Add(2, 3) != 5 {\n\t\t\tt.Error("no")\n\t\t}\n\t})\n'
    await agent.write({ 'add_test.go': testing('', body) })
    const named = (name: string) => [{ ...covers('add_test.go'), criteria: { AC1: [name] } }]
    expect(await agent.red(named('TestAdds/three_numbers'))).toContain('no failing test matches')
    expect(await agent.red(named('TestAdds/two_numbers'))).toBe('')
    await agent.write({ 'add.go': 'package adder\n\nfunc Add(a, b int) int { return a + b }\n' })
    expect(await agent.green()).toBe('')
  }, 600_000)

  it.each([
    [
      'a symbol of a package',
      'is not installed',
      testing('\t"strings"\n', '\tif strings.Adds("a") != 2 {\n\t\tt.Error("no")\n\t}\n'),
    ],
    [
      'a refused connection',
      'could not connect',
      testing('\t"net"\n', '\tif _, err := net.Dial("tcp", "127.0.0.1:1"); err != nil {\n\t\tt.Fatal(err)\n\t}\n'),
    ],
    ['a syntax error', 'syntax error', testing('', '\tif {\n')],
  ])(
    '[REQ-RED-4] %s shows nothing of the project',
    async (_, reason, text) => {
      if (!isThere) return
      const agent = await stage.worker(PROJECT, TERMS)
      await agent.write({ 'add_test.go': text })
      expect(await agent.red([covers('add_test.go')])).toContain(reason)
      await agent.write({ 'add_test.go': ADD })
      expect(await agent.red([covers('add_test.go')])).toBe('')
    },
    600_000,
  )
})
