import { expect, test } from 'vitest'
import { checkMemory } from '../../src/cli/doctor/doctor-observed.js'
import type { MemoryFacts } from '../../src/confinement/runner-memory.js'

const WELL: MemoryFacts = { kernel: '6.1.0', hasPerl: true, isKeptApart: true, isScoped: false }

test('[REQ-CLI-25] doctor says why the memory of runners can be written, and what to do', () => {
  expect(checkMemory(WELL)).toMatchObject({ status: 'ok', detail: expect.stringContaining('Landlock') })
  const bare = { ...WELL, hasPerl: false, isKeptApart: false }
  const old = { ...WELL, kernel: '5.15.0', isKeptApart: false }
  expect(checkMemory(bare)).toMatchObject({
    status: 'warning',
    detail: expect.stringMatching(/^parents' memory stays writable: .*\/usr\/bin\/perl is missing/),
    remedy: expect.stringMatching(/^Install perl as \/usr\/bin\/perl, or .*kernel\.yama\.ptrace_scope=1$/),
  })
  expect(checkMemory(old)).toMatchObject({
    status: 'warning',
    detail: expect.stringMatching(
      /^parents' memory stays writable: .*Landlock is not enabled in this kernel, Linux 5\.15\.0/,
    ),
    remedy: expect.stringMatching(/^Enable Landlock \(Linux 5\.19 or newer, boot parameter lsm=landlock,…\), or /),
  })
  for (const facts of [bare, old])
    expect(checkMemory({ ...facts, isScoped: true })).toMatchObject({
      status: 'ok',
      detail: expect.stringContaining('ptrace_scope'),
    })
})
