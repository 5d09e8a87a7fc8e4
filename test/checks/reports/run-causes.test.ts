import { describe, expect, it } from 'vitest'
import { explainNoCounts, explainRun } from '../../../src/checks/reports/run-trouble.js'
import { recorded, recordedCauses } from './fixtures.js'

const UNKNOWN = 'no counts could be read from the output'

function explain(run: {
  exitCode?: number
  stdout?: string
  stderr?: string
  stopped?: 'timeout' | 'output' | 'aborted'
}) {
  const whole = { exitCode: 1, stopped: null, timeoutSeconds: 60, stdout: '', stderr: '', redact: String, ...run }
  return explainRun(whole, explainNoCounts('nothing'))
}

const MENDED_BY: Readonly<Record<string, string>> = {
  ...{ 'command not found': 'operator', 'module missing': 'operator', 'no network': 'operator' },
  ...{ 'connection refused': 'operator', 'compile failed': 'agent', 'out of memory': 'agent', killed: 'agent' },
}

describe('honest tests that expect the words of a cause', () => {
  const words = [
    'bash: line 1: jset: command not found',
    "Cannot find module 'left-pad'",
    'connect ECONNREFUSED 127.0.0.1:1',
    'getaddrinfo EAI_AGAIN api.example.org',
    'src/a.ts(1,1): error TS2304: x',
    'FATAL ERROR: Reached heap limit Allocation failed - JavaScript heap out of memory',
  ]
  const shown: readonly (readonly [string, (text: string) => string])[] = [
    [
      'node:assert',
      (text) => `AssertionError [ERR_ASSERTION]: Expected values to be strictly equal:\n+ '${text}'\n- ''\n`,
    ],
    [
      'vitest',
      (text) =>
        `AssertionError: expected '${text}' to be '' // Object.is equality\n- Expected\n+ Received\n\n+ ${text}\n`,
    ],
    ['jest', (text) => `    Expected: ""\n    Received: "${text}"\n`],
    ['pytest', (text) => `>       assert run() == ""\nE       assert '${text}' == ''\nE         + ${text}\n`],
    ['unittest', (text) => `AssertionError: '${text}' != ''\n- ${text}\n`],
    ['go', (text) => `    a_test.go:5: got "${text}", want ""\n`],
    ['cargo', (text) => `assertion \`left == right\` failed\n  left: "${text}"\n right: ""\n`],
    ['JUnit', (text) => `[ERROR]   CalcTest.a:6 expected: <> but was: <${text}>\n`],
    ['RSpec', (text) => `       expected: ""\n            got: "${text}"\n`],
    [
      'PHPUnit',
      (text) => `Failed asserting that two strings are identical.\n--- Expected\n+++ Actual\n@@ @@\n-''\n+'${text}'\n`,
    ],
  ]

  it.each(shown)('[REQ-DEADEND-2] %s shows them, and they are not the cause', (_runner, show) => {
    for (const text of words) expect(explain({ stdout: show(text) }), show(text)).toMatchObject({ cause: UNKNOWN })
  })
})

describe('recorded failures', () => {
  it.each(recordedCauses())(
    '[REQ-DEADEND-2] $name has its cause, who can fix it, a line that shows it and the last lines',
    (run) => {
      const cause = run.name.split('/')[0] ?? ''
      const trouble = explain(run)
      expect(trouble).toMatchObject({ cause, mendedBy: MENDED_BY[cause] })
      expect(trouble.remedy).not.toBe('')
      if (cause === 'killed') return
      expect(trouble.detail).not.toBe('')
      expect(trouble.lastLines.length).toBeGreaterThan(0)
    },
  )

  it.each([
    ['maven3/default/offline', 'no network'],
    ['maven3/default/compile', 'compile failed'],
    ['phpunit9/default/syntax', 'compile failed'],
    ['rspec3/progress/missing', 'module missing'],
    ['cargo/default/missing-crate', 'compile failed'],
    ['go/json/syntax', 'compile failed'],
  ])('[REQ-DEADEND-2] %s: %s', (name, cause) => {
    expect(explain(recorded(name)).cause).toBe(cause)
  })

  it.each([
    [
      'gradle',
      "> Task :compileTestJava FAILED\n/project/src/test/java/A.java:5: error: ';' expected\n",
      'compile failed',
    ],
    [
      'gradle',
      "> Could not resolve all files for configuration ':a'.\n   > No cached version of org.example:x:1 available for offline mode.\n",
      'no network',
    ],
    ['dotnet', 'src/A.cs(3,5): error CS1002: ; expected [/project/a.csproj]\n', 'compile failed'],
    [
      'bundler',
      'bundler: command not found: rspec\nInstall missing gem executables with `bundle install`\n',
      'command not found',
    ],
    ['go', 'fatal error: runtime: out of memory\n', 'out of memory'],
    ['rust', 'memory allocation of 80000000000 bytes failed\n', 'out of memory'],
  ])('[REQ-DEADEND-2] %s says %s: %s', (_runner, stderr, cause) => {
    expect(explain({ stderr }).cause).toBe(cause)
  })
})

describe('what stopped a run', () => {
  it('[REQ-DEADEND-2] comes before what it printed', () => {
    const stderr = 'bash: line 1: jset: command not found\n'
    expect(explain({ stderr, stopped: 'timeout' }).cause).toBe('timed out')
    expect(explain({ stderr, stopped: 'output' }).cause).toBe('cut off')
    expect(explain({ stderr, exitCode: 137 }).cause).toBe('killed')
  })

  it('[REQ-DEADEND-2] a run that ended well has no cause in its output', () => {
    expect(explain({ exitCode: 0, stderr: 'bash: line 1: jset: command not found\n' }).cause).toBe(UNKNOWN)
  })

  it('[REQ-DEADEND-2] a missing file of the project is for the agent', () => {
    expect(explain({ stderr: "Error: Cannot find module './add.js'\n" })).toMatchObject({
      cause: 'module missing',
      mendedBy: 'agent',
    })
  })

  it('[REQ-DEADEND-2] a missing export names a way that a phase without code has too', () => {
    const said = "message: The requested module './index.js' does not provide an export named 'sumUp'\n"
    const { cause, mendedBy, remedy } = explain({ stderr: said })
    expect({ cause, mendedBy }).toEqual({ cause: 'module missing', mendedBy: 'agent' })
    expect(remedy).toMatch(/load it inside each test/)
  })
})
