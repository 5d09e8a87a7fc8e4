import { expect, it } from 'vitest'
import { TrialOutput } from '../../src/cli/trial/trial-output.js'

function makeOutput(compiles = false) {
  const clock = { ms: 0 }
  const redact = (text: string): string => text.replaceAll('hunter2', '[REDACTED]')
  const output = new TrialOutput({ tree: '/home/ada/carts', redact, now: () => clock.ms, compiles })
  const print = (text: string): void => output.take(Buffer.from(text))
  return { clock, output, print }
}

it('[REQ-INIT-9] nothing is said while there is output, and no file is made up', () => {
  const { clock, output, print } = makeOutput()
  clock.ms = 4000
  expect(output.describeQuiet()).toBe('')
  clock.ms = 9000
  expect(output.describeQuiet()).toBe('no output for 9 s')
  print('/usr/lib/tests/other.test.js\nnode_modules/x/tests/a.test.js\n')
  clock.ms = 20_000
  expect(output.describeQuiet()).toBe('no output for 11 s; last: node_modules/x/tests/a.test.js')
})

it('[REQ-INIT-9] the last test file is named, or the last line without secrets and control characters', () => {
  const { clock, output, print } = makeOutput()
  print("not ok 1 - reload\n  ---\n  location: '/home/ada/carts/tests/rel")
  print("oad.test.js:14:1'\n  code: 'ERR_TEST_FAILURE'\n  ...\n")
  clock.ms = 240_000
  expect(output.describeQuiet()).toBe('no output for 240 s; last: tests/reload.test.js')
  for (let count = 1; count <= 30; count += 1) print(`# Subtest: \u001B[31mlogin ${count} with hunter2\n  ---\n  ...\n`)
  clock.ms = 250_000
  output.end()
  clock.ms = 900_000
  expect(output.describeQuiet()).toBe('no output for 10 s; last: login 30 with [REDACTED]')
  expect(output.countSeconds()).toBe(250)
})

it('[REQ-INIT-8] a refusal is one of sending a signal, not of a file', () => {
  const { output, print } = makeOutput()
  print("Error: EPERM: operation not permitted, open '/etc/x'\n")
  expect(output.hasRefusal).toBe(false)
  print("  error: 'kill EPERM'\n")
  expect(output.hasRefusal).toBe(true)
})

it('[REQ-INIT-9] a command that compiles first is not taken for one that hangs', () => {
  const { clock, output, print } = makeOutput(true)
  clock.ms = 60_000
  expect(output.describeQuiet()).toBe('no output for 60 s; it compiles first')
  print('ok carts 0.1s\n')
  clock.ms = 70_000
  expect(output.describeQuiet()).toBe('no output for 10 s; last: ok carts 0.1s')
})
