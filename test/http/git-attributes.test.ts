import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Running, start } from './harness.js'

const CONTRACT = `
name: attributes
version: "1"
phases:
  - id: WORK
    allowed_tools: [write_files, git_diff, git_status, git_commit]
    gates:
      - id: done
        type: validation
        blockers:
          - {check: committed, message: Committed}
          - {check: work_tree_clean, message: Clean}
          - {check: no_commented_out_code, severity: warning, message: Comments}
          - {check: expression, when: "!changes.exists(c, c.path.startsWith('kept/'))", severity: warning, message: Kept}
  - id: APPROVED
    gates: [{id: ok, type: approval, approvers: [human]}]
  - {id: DONE, allowed_tools: []}
`
// A repository that came with these settings.
const ATTRIBUTES = `*.nodiff -diff
*.bin binary
*.text -text -diff
*.gen linguist-generated -diff
*.exp export-ignore export-subst
*.drv diff=driver
*.conv diff=conv
*.id ident
*.clean filter=clean
*.whole filter=whole
*.enc working-tree-encoding=UTF-16LE
kept/** -diff linguist-generated
`
const SETTINGS: readonly (readonly [string, string])[] = [
  ['diff.driver.binary', 'true'],
  ['diff.driver.command', 'true'],
  ['diff.conv.textconv', 'true'],
  ['filter.clean.clean', 'sed -e "/PAYLOAD/d"'],
  ['filter.whole.clean', 'git show HEAD:%f'],
  ['filter.whole.smudge', 'cat a.whole'],
  ['core.checkStat', 'minimal'],
  ['core.trustctime', 'false'],
]
const BEFORE = 'one\n'
const utf16 = (text: string) => Buffer.from(text, 'utf16le')
const CHANGED: Readonly<Record<string, string>> = {
  'a.nodiff': 'one\nPAYLOAD nodiff\n',
  'a.bin': 'one\nPAYLOAD bin\n',
  'a.text': 'one\nPAYLOAD text\n',
  'a.gen': 'one\nPAYLOAD gen\n',
  'a.exp': 'one\nPAYLOAD exp\n',
  'a.drv': 'one\nPAYLOAD drv\n',
  'a.conv': 'one\nPAYLOAD conv\n',
  'a.id': 'one\n/*$Id: */ PAYLOAD_id() /*$*/\n',
  'a.clean': 'one\nPAYLOAD clean\n',
  'a.whole': 'one\nPAYLOAD whole\n',
  'a.plain': 'one\nPAYLOAD plain\n',
}

describe('git attributes of the repository', () => {
  let run: Running
  let token = ''
  const put = (path: string, content: string | Buffer) => {
    mkdirSync(join(run.workspace, path, '..'), { recursive: true })
    writeFileSync(join(run.workspace, path), content)
  }
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=x', '-c', 'user.email=x@x', ...args], {
      cwd: run.workspace,
      encoding: 'utf8',
    })
  const use = async (tool_name: string, args: object = {}) => {
    const { status, body } = await run.call('POST', '/tools/execute', token, { task_id: 't', tool_name, args })
    expect(status, JSON.stringify(body)).toBe(200)
    return body.result as Record<string, unknown>
  }
  const write = (path: string, content: string) => use('write_files', { path, content })
  const told = async () => {
    const { body } = await run.call('POST', '/tasks/transition', token, { task_id: 't', target_phase: 'APPROVED' })
    return { isAllowed: body.allowed === true, text: JSON.stringify(body) }
  }

  beforeAll(async () => {
    run = await start({ contract: CONTRACT })
    git('init', '-q')
    for (const path of [...Object.keys(CHANGED), 'kept/a.js', 'flagged.js']) put(path, BEFORE)
    put('a.id', 'one\n/*$Id$*/\n')
    put('a.enc', utf16('one\n'))
    put('.gitattributes', ATTRIBUTES)
    git('add', '.')
    git('commit', '-qm', 'first')
    for (const [key, value] of SETTINGS) git('config', key, value)
    git('update-index', '--assume-unchanged', 'flagged.js')
    await run.addTask({ id: 't' })
    token = await run.claim('a', await run.addAgent('a'), 't')
  })
  afterAll(() => run.stop())

  it('[REQ-ATTR-1] a repository in which nothing was changed shows nothing', async () => {
    expect(await use('git_diff')).toEqual({ diff: '', truncated: false })
  })

  it('[REQ-ATTR-1] git_diff shows every change, whatever attributes, drivers, filters and flags say', async () => {
    for (const [path, content] of Object.entries(CHANGED)) await write(path, content)
    await write('flagged.js', 'one\nPAYLOAD flagged\n')
    const { diff } = await use('git_diff')
    const payloads = [...Object.values(CHANGED), 'PAYLOAD flagged'].flatMap(
      (text) => text.match(/PAYLOAD\S*( \w+)?/g) ?? [],
    )
    expect(payloads.filter((payload) => !String(diff).includes(payload))).toEqual([])
    expect((await use('git_diff', { paths: ['a.clean'] })).diff).toContain('+PAYLOAD clean')
    expect((await use('git_diff', { paths: ['a.plain'] })).diff).not.toContain('PAYLOAD clean')
  })

  it('[REQ-ATTR-2] what a commit leaves out closes the gate, and what was committed shows in the diff of the phase', async () => {
    await write('kept/a.js', `${BEFORE}// a = 1;\n// b = 2;\n// c = 3;\n`)
    await use('git_commit', { message: 'all of it' })
    const { text: messages } = await told()
    for (const path of ['a.id', 'a.clean', 'a.whole'])
      expect(messages).toContain(`${path} (attributes or flags hide its content from git)`)
    for (const path of ['a.nodiff', 'a.bin', 'a.plain', 'a.enc']) expect(messages).not.toContain(`${path} (`)
    expect(messages).toContain('Comments: commented-out code in kept/a.js')
    expect(messages).toContain('Kept: ')
  })

  it('[REQ-ATTR-2] honest work in such a repository can be committed', async () => {
    for (const path of ['a.clean', 'a.whole', 'flagged.js', 'kept/a.js']) await write(path, BEFORE)
    await write('a.id', 'one\nhonest\n/*$Id$*/\n')
    await use('git_commit', { message: 'honest' })
    expect(await told()).toMatchObject({ isAllowed: true })
  })
})
