import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { HAS_GO } from '../forgery/go-project.js'
import { type Running, start } from './harness.js'

const COMPILE_MS_MAX = 900_000
const build = (tests: string) => `
name: cached
version: "1"
commands:
  tests: {run: ${JSON.stringify(tests)}, format: ${tests.startsWith('go') ? 'go' : 'tap'}, timeout_seconds: 600}
phases:
  - id: IMPL
    allowed_tools: [read_files, write_files, bash, run_tests]
    tool_constraints: {write_files: {allowed_patterns: ["**"]}, bash: {timeout_seconds: 600}}
  - id: DONE
    allowed_tools: []
`
const TAP = 'echo 1..1; test ! -e ~/.cache/mine && echo "ok 1 - clean" || { echo "not ok 1 - clean"; exit 1; }'
const SUM = (result: string) => `package sum\n\nfunc Sum(a, b int) int { return ${result} }\n`
const PROJECT = {
  'go.mod': 'module example.org/one\n\ngo 1.20\n',
  'sum/sum.go': SUM('a - b'),
  'check/sum_test.go': `package check

import (
	"testing"

	"example.org/one/sum"
)

func TestSum(t *testing.T) {
	if sum.Sum(1, 2) != 3 {
		t.Fatal("wrong")
	}
}
`,
}
/** Makes Go take the compiled right package for the wrong one, as long as it uses this cache. */
const PLANT = `set -e
export_of() { go list -export -f '{{.Export}}' ./sum; }
wrong=$(export_of)
printf 'package sum\\n\\nfunc Sum(a, b int) int { return a + b }\\n' > sum/sum.go
right=$(export_of)
printf 'package sum\\n\\nfunc Sum(a, b int) int { return a - b }\\n' > sum/sum.go
id() { basename "$1" | sed 's/-d$//'; }
cd "$(go env GOCACHE)"
test "$(stat -c %s $right)" = "$(stat -c %s $wrong)"
sed -i "s/$(id $wrong)/$(id $right)/" $(grep -l "$(id $wrong)" */*-a)`

describe('the cache folder of bash', () => {
  let run: Running
  let token = ''
  const begin = async (contract: string, files: Readonly<Record<string, string>>) => {
    run = await start({ contract, answerWithinMs: COMPILE_MS_MAX })
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(join(run.workspace, dirname(path)), { recursive: true })
      writeFileSync(join(run.workspace, path), text)
    }
    const git = (...args: string[]) =>
      execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@t', ...args], { cwd: run.workspace })
    git('init', '-q')
    git('add', '.')
    git('commit', '-qm', 'first')
    await run.addTask({ id: 't' })
    token = await run.claim('a', await run.addAgent('a'), 't')
  }
  const execute = async (tool_name: string, args: object) => {
    const answer = await run.call('POST', '/tools/execute', token, { task_id: 't', tool_name, args })
    return (answer.body.result ?? answer.body) as Record<string, unknown>
  }
  const bash = (command: string) => execute('bash', { command })
  const listCaches = () => {
    const dir = join(run.stateDir, 'build-caches')
    return existsSync(dir) ? readdirSync(dir) : []
  }
  afterEach(() => run.stop())

  it('[REQ-CACHE-1] [REQ-CACHE-2] is kept for later commands, is not there in run_tests, and goes with the task', async () => {
    await begin(build(TAP), { 'package.json': '{}\n' })
    expect(await bash('mkdir -p ~/.cache && echo one > ~/.cache/mine')).toMatchObject({ exit_code: 0, changes: [] })
    expect(await execute('run_tests', {})).toMatchObject({ exit_code: 0, passed: 1 })
    expect(await bash('cat ~/.cache/mine; echo $GRADLE_USER_HOME')).toMatchObject({
      stdout: 'one\n/tmp/.cache/gradle\n',
    })
    run = await run.restart()
    expect(await bash('cat ~/.cache/mine')).toMatchObject({ stdout: 'one\n' })
    expect(listCaches()).toHaveLength(1)
    await run.call('POST', '/tasks/t/cancel', run.operator, { reason: 'over' })
    await expect.poll(listCaches).toEqual([])
  })

  it.runIf(HAS_GO)(
    '[REQ-CACHE-1] [REQ-CACHE-2] what a command plants in Go’s cache deceives its own task and never an observed run',
    async () => {
      await begin(build('go test -json ./...'), PROJECT)
      expect(await bash(PLANT)).toMatchObject({ exit_code: 0, changes: [] })
      // The planted package is used in bash: what follows shows that it does not get further.
      expect(await bash('go test ./check')).toMatchObject({ exit_code: 0 })
      expect(await execute('run_tests', {})).toMatchObject({ exit_code: 1, passed: 0, failed: 1 })
      await bash("sed -i 's/a - b/a + b/' sum/sum.go")
      expect(await execute('run_tests', {})).toMatchObject({ exit_code: 0, passed: 1, failed: 0 })
      expect(await bash('go test ./check')).toMatchObject({ exit_code: 0 })
      // Nothing has changed since: nothing is compiled.
      const again = await bash('go test ./check; go build -x -o /dev/null ./sum')
      expect(again).toMatchObject({ stdout: expect.stringContaining('(cached)') })
      expect(again.stderr).not.toContain('/compile ')
    },
    COMPILE_MS_MAX,
  )
})
