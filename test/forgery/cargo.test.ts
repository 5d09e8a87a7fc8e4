import { afterAll, beforeAll, describe, it } from 'vitest'
import { FIRST, HAS_CARGO, INLINE, INLINE_ADD, INLINE_TESTS, INLINE_WRONG, RUST_HOMES } from './cargo-project.js'
import { expectRefused, type Forge, openForge } from './forge.js'

let forge: Forge
beforeAll(async () => {
  forge = await openForge(RUST_HOMES)
})
afterAll(() => forge?.end())

describe.skipIf(!HAS_CARGO)('tests inside of Rust sources', () => {
  it('[REQ-VIEW-16] code around them is free, and an honest implementation completes', async () => {
    const task = await forge.inImpl(INLINE)
    await task.write({ 'src/first.rs': `// Sums.\n${FIRST.replace('1', '2 - 1')}${INLINE_ADD}${INLINE_TESTS}` })
    await task.completes()
    await task.agent.finish('sums up')
  })

  it('[REQ-VIEW-16] a test that the agent weakened is put back and named', async () => {
    const task = await forge.inImpl(INLINE)
    await task.write({ 'src/first.rs': `${FIRST}${INLINE_WRONG}${INLINE_TESTS.replace('5', '4')}` })
    await expectRefused(task, /src\/first\.rs \(tests inside changed or gone: tests\)/)
  })
})
