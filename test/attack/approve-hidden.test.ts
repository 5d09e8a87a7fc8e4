import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Running, start } from '../http/harness.js'

const CONTRACT = `
name: bound
version: "1"
phases:
  - id: WORK
    allowed_tools: [write_files]
    gates: [{id: ok, type: approval, approvers: [human]}]
  - {id: DONE, allowed_tools: []}
`
const PATHS = ['a.id', 'a.nodiff', 'a.clean']
let run: Running
let token = ''
const git = (...args: string[]) =>
  execFileSync('git', ['-c', 'user.name=x', '-c', 'user.email=x@x', ...args], { cwd: run.workspace })
const write = (path: string, content: string) =>
  run.call('POST', '/tools/execute', token, { task_id: 't', tool_name: 'write_files', args: { path, content } })
const asked = async () => {
  const { body } = await run.call('POST', '/tasks/transition', token, { task_id: 't', target_phase: 'DONE' })
  return (body.blockers as { code: string }[])[0]?.code
}
const approvals = async () =>
  (await run.call('GET', '/approvals', run.operator)).body.approvals as { id: string; digest?: string }[]

beforeAll(async () => {
  run = await start({ contract: CONTRACT })
  git('init', '-q')
  const put = (path: string, content: string) => writeFileSync(join(run.workspace, path), content)
  put('.gitattributes', '*.id ident\n*.nodiff -diff\n*.clean filter=clean\n')
  for (const path of PATHS) put(path, 'one $Id$\n')
  git('add', '.')
  git('commit', '-qm', 'first')
  git('config', 'filter.clean.clean', 'sed -e /PAYLOAD/d')
  await run.addTask({ id: 't' })
  token = await run.claim('a', await run.addAgent('a'), 't')
})
afterAll(() => run.stop())

it('[REQ-ATTR-2] an approval does not hold for a change that attributes hide from git', async () => {
  const seen = new Set<string>()
  for (const path of ['', ...PATHS]) {
    if (path !== '') expect((await write(path, 'one $Id: PAYLOAD $\nPAYLOAD\n')).status).toBe(200)
    expect(await asked(), path).toBe('approval_pending')
    const [open] = await approvals()
    expect(seen.has(String(open?.id)), `${path} is covered by an earlier request`).toBe(false)
    seen.add(String(open?.id))
  }
  expect(seen.size).toBe(4)
})
