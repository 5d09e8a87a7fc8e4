import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { EMPTY, HONEST, NODE_PROJECT, TESTS } from './node.js'
import { type Liar, openStage, type Stage, staysClosed, type Terms } from './stage.js'

const REPORTED: Terms = {
  run: 'node --test --test-reporter=junit --test-reporter-destination=reports/junit.xml tests/',
  report: 'reports/junit.xml',
  format: 'junit',
}
const FORGED = `<?xml version="1.0" encoding="utf-8"?>
<testsuites>
  <testcase name="two and three are five" time="0.001" classname="test"/>
  <testcase name="nothing and one is one" time="0.001" classname="test"/>
</testsuites>
`
const PROJECT = { ...NODE_PROJECT, 'reports/.keep': '' }
const WRITE = `import { writeFileSync } from 'node:fs'\nconst forge = () => writeFileSync('reports/junit.xml', ${JSON.stringify(FORGED)})\n`

let stage: Stage
beforeAll(async () => {
  stage = await openStage()
})
afterAll(() => stage?.end())

async function inImpl(): Promise<Liar> {
  const liar = await stage.liar(PROJECT, REPORTED)
  await liar.toImpl(TESTS)
  return liar
}

const LATE = `const { spawn } = await import('node:child_process')
spawn('bash', ['-c', 'for i in $(seq 100); do cp reports/forged.xml reports/junit.xml; sleep 0.05; done'], { detached: true, stdio: 'ignore' }).unref()
`

const TRICKS: readonly (readonly [trick: string, files: Readonly<Record<string, string>>])[] = [
  ['is in the tree before the run', { 'src/add.js': EMPTY, 'reports/junit.xml': FORGED }],
  ['is written while the code is loaded', { 'src/add.js': `${WRITE}forge()\n${EMPTY}` }],
  ['is written at the end of a test process', { 'src/add.js': `${WRITE}process.on('exit', forge)\n${EMPTY}` }],
  ['is written before an early exit', { 'src/add.js': `${WRITE}forge()\nprocess.exit(0)\n` }],
  ['is written late by a process that stays behind', { 'src/add.js': `${LATE}${EMPTY}`, 'reports/forged.xml': FORGED }],
  [
    'is written before the runner is killed',
    { 'src/add.js': `${WRITE}forge()\nprocess.kill(process.ppid, 'SIGKILL')\n${EMPTY}` },
  ],
  [
    'is a link to what was prepared',
    {
      'src/add.js': `import { rmSync, symlinkSync } from 'node:fs'\nrmSync('reports/junit.xml', { force: true })\nsymlinkSync('forged.xml', 'reports/junit.xml')\n${EMPTY}`,
      'reports/forged.xml': FORGED,
    },
  ],
]

describe.concurrent('a forged report', () => {
  it.each(TRICKS)('[REQ-LYING-8] a report that %s opens nothing', async (_, files) => {
    const liar = await inImpl()
    for (const [path, text] of Object.entries(files)) await liar.write(path, text)
    expect(await staysClosed(liar, 'REVIEW')).toMatch(/all_tests_pass/)
  })

  it('[REQ-LYING-8] the report of tests that pass opens the way', async () => {
    const liar = await inImpl()
    await liar.write('src/add.js', HONEST)
    await liar.agent.enters('REVIEW')
  })
})
