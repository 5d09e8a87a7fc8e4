import { spawnSync } from 'node:child_process'
import { expect, test } from 'vitest'

const LOG_FILE = new URL('../../dist/cli/server/server-log.js', import.meta.url).href
const PLANTED = { API_TOKEN: 'planted-4711-token', DATABASE_URL: 'postgres://u:planted-pass-0815@db/x' }

/** The lines that a server would write to a standard error that is no terminal. */
function writeLog(format: string): readonly string[] {
  const program = `
    const { ServerLog } = await import(${JSON.stringify(LOG_FILE)})
    const log = new ServerLog()
    await log.open(${JSON.stringify(format)})
    const { API_TOKEN, DATABASE_URL } = process.env
    log.notice('ready with ' + API_TOKEN)
    log.alert('alert: task t1 stuck: ' + API_TOKEN, { task: 't1', alert: 'stuck ' + API_TOKEN, isCleared: false })
    log.fault(new Error('cannot reach ' + DATABASE_URL + '\\n\\u001b[31mred'))
    log.useRedactor((value) => JSON.parse(JSON.stringify(value).replaceAll('own-secret', '***')))
    log.fault('own-secret')`
  const { stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', program], {
    encoding: 'utf8',
    env: { PATH: process.env.PATH, ...PLANTED },
  })
  return stderr.trim().split('\n')
}

test('[REQ-LOG-1] a log that is no terminal has one line of JSON for each event, without secrets', () => {
  const lines = writeLog('auto')
  expect(lines.join('\n')).not.toMatch(/planted|own-secret|\\u001b/)
  expect(lines.map((line) => JSON.parse(line))).toMatchObject([
    {
      level: 'info',
      pid: expect.any(Number),
      time: expect.stringMatching(/Z$/),
      msg: expect.stringMatching(/^ready with /),
    },
    { level: 'warn', task_id: 't1', cleared: false },
    { level: 'error', msg: expect.stringMatching(/^fault: Error: cannot reach postgres:/) },
    { level: 'error', msg: 'fault: ***' },
  ])
})

test('[REQ-LOG-1] text has a time, and no secrets or control characters', () => {
  const lines = writeLog('text')
  expect(lines).toHaveLength(4)
  for (const line of lines) expect(line).toMatch(/^\d{4}-\d\d-\d\dT[\d:.]+Z \S/)
  expect(lines.join('\n')).not.toMatch(/planted|own-secret/)
  expect(lines.join('\n')).not.toContain('\u001b')
})
