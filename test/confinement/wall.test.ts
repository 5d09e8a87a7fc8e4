import { randomBytes } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { escapeSuite } from './escape.suite.js'
import { foundSuite } from './found.suite.js'
import { gitSuite } from './git.suite.js'
import { identitySuite } from './identity.suite.js'
import { leaksOf } from './leaks.js'
import { someSettings } from './stage.js'
import { openStages } from './stages.js'
import { writesSuite } from './writes.suite.js'

// One server for each wall and account, for all of it.
const stages = openStages()

describe('the sandbox', () => {
  describe('escapes', () => escapeSuite(stages))
  describe('identity', () => identitySuite(stages))
  describe('writes', () => writesSuite(stages))
  describe('git', () => gitSuite(stages))
  describe('found', () => foundSuite(stages))
})

describe.concurrent.each(someSettings())('after all of it: $name', (setting) => {
  it('[REQ-WALL-12] a value sent to the server is found in the answers, the ledger and the tree', async () => {
    const stage = stages.of(setting)
    const canary = `canary-${randomBytes(24).toString('hex')}`
    await (await stage.agent()).bash(`echo ${canary}; echo ${canary} > tests/canary.txt`)
    const found = (await leaksOf(stage, stages.program(), new Map([['canary', canary]]))).join('\n')
    expect(found).toMatch(/canary \(plain\) in answer \d+/)
    expect(found).toContain('canary (plain) in the export of the ledger')
    expect(found).toContain('canary (plain) in tree/tests/canary.txt')
  })

  it('[REQ-WALL-12] no secret is found in any answer, the ledger, the log or a file', async () => {
    const stage = stages.of(setting)
    expect(stage.secrets.size).toBe(7)
    expect(stage.answers.length).toBeGreaterThan(100)
    expect(await leaksOf(stage, stages.program(), stage.secrets)).toEqual([])
  })
})
