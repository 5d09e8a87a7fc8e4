import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { type Answer, type Running, start } from './harness.js'

const contract = (enforcement: string) => `
name: comments
version: "1"
phases:
  - {id: BEFORE, allowed_tools: [write_files, bash, git_commit]}
  - id: WORK
    allowed_tools: [write_files, bash, git_commit]
    gates: [{id: done, type: validation, blockers: [{check: no_commented_out_code, message: Comments}]}]
  - {id: DONE, allowed_tools: []}
enforcement: {${enforcement}}
`
const BLOCK = '// const a = 1;\n// if (a) {\n//   run(a);\n// }\n'
const OTHER = '# def other(x):\n#     y = x + 1\n#     other(y)\n'

describe('commented-out code in what the phase changed', () => {
  let run: Running
  let token = ''
  const put = (path: string, content: string) => {
    mkdirSync(join(run.workspace, path, '..'), { recursive: true })
    writeFileSync(join(run.workspace, path), content)
  }
  const move = async (target_phase: string): Promise<Answer> => {
    const answer = await run.call('POST', '/tasks/transition', token, { task_id: 't', target_phase })
    if (typeof answer.body.phase_token === 'string') token = answer.body.phase_token
    return answer
  }
  const tool = async (tool_name: string, args: object) => {
    const answer = await run.call('POST', '/tools/execute', token, { task_id: 't', tool_name, args })
    expect(answer.status, JSON.stringify(answer.body)).toBe(200)
  }
  const write = (path: string, content: string) => tool('write_files', { path, content })
  const told = async () => {
    const { body } = await move('DONE')
    return body.allowed === true ? [] : (body.blockers as { message: string }[]).map((one) => one.message)
  }
  /** The task is in WORK; `before` was done in the phase before and never committed. */
  const begin = async (
    before: () => Promise<void> = async () => undefined,
    about: { readonly enforcement?: string; readonly isRepository?: boolean; readonly attributes?: string } = {},
  ) => {
    run = await start({ contract: contract(about.enforcement ?? 'reconcile: block') })
    put('src/old.js', `export {}\n${BLOCK}`)
    put('README.md', 'x\n')
    if (about.attributes !== undefined) put('.gitattributes', about.attributes)
    if (about.isRepository !== false) {
      const git = (...args: string[]) =>
        execFileSync('git', ['-c', 'user.name=x', '-c', 'user.email=x@x', ...args], { cwd: run.workspace })
      git('init', '-q')
      git('add', '.')
      git('commit', '-qm', 'base')
    }
    await run.addTask({ id: 't' })
    token = await run.claim('a', await run.addAgent('a'), 't')
    await before()
    expect((await move('WORK')).body).toMatchObject({ allowed: true })
  }
  afterEach(() => run.stop())

  it('[REQ-CHECK-13] a commit in the phase hides nothing', async () => {
    await begin()
    await write('src/new.js', `export {}\n${BLOCK}`)
    await tool('git_commit', { message: 'all' })
    expect(await told()).toEqual(['Comments: commented-out code in src/new.js'])
    await write('src/new.js', 'export {}\n')
    expect(await told()).toEqual([])
  })

  it('[REQ-CHECK-13] attributes and lines that look like a diff hide nothing', async () => {
    await begin(async () => undefined, {
      attributes: '*.js -diff linguist-generated\n*.py binary -text export-ignore\n',
    })
    await write('src/new.js', `++ b/README.md\n${BLOCK}`)
    await write('src/new.py', `++ b/README.md\n${OTHER}`)
    expect(await told()).toEqual(['Comments: commented-out code in src/new.js, src/new.py'])
  })

  it('[REQ-CHECK-13] what tools and people changed counts, and more paths than the ledger lists', async () => {
    await begin()
    put('src/by-hand.js', BLOCK)
    await tool('bash', { command: 'mkdir many; for i in $(seq 250); do echo x > many/$i.txt; done' })
    expect(await told()).toEqual(['Comments: commented-out code in src/by-hand.js'])
  })

  it('[REQ-CHECK-13] what the phase before left uncommitted does not count, and what is added to it does', async () => {
    await begin(() => write('src/left.js', `export {}\n${BLOCK}`))
    await write('src/left.js', `export const b = 2\n${BLOCK.replace('run(a)', 'run(b)')}`)
    await write('src/old.js', `${BLOCK}export {}\n`)
    expect(await told(), 'one line was changed, another block was moved').toEqual([])
  })

  it('[REQ-CHECK-13] a second block in a file that had one counts, also where it repeats lines of the first', async () => {
    await begin(() => write('src/left.js', BLOCK))
    await write('src/left.js', `// const c = 3;\n// if (c) {\n// }\nexport {}\n${BLOCK}`)
    expect(await told()).toEqual(['Comments: commented-out code in src/left.js'])
  })

  it('[REQ-CHECK-13] after a rewind only what came since counts', async () => {
    await begin()
    await write('src/new.js', `export {}\n${BLOCK}`)
    expect(await told()).toHaveLength(1)
    const rewound = { to_phase: 'WORK', reason: 'look at it again' }
    expect((await run.call('POST', '/tasks/t/rewind', run.operator, rewound)).status).toBe(200)
    token = await run.claim('a', await run.addAgent('a'), 't')
    await write('src/new.js', `export const a = 1\n${BLOCK}${OTHER.replaceAll('#', '//')}`)
    expect(await told()).toEqual(['Comments: commented-out code in src/new.js'])
    await write('src/new.js', `export const a = 1\n${BLOCK}`)
    expect(await told()).toEqual([])
  })

  it('[REQ-CHECK-13] it needs no git repository', async () => {
    await begin(async () => undefined, { isRepository: false })
    await write('src/old.js', `${BLOCK}export {}\n`)
    await write('src/new.js', BLOCK)
    expect(await told()).toEqual(['Comments: commented-out code in src/new.js'])
  })

  it('[REQ-CHECK-13] with reconcile: off every line of a changed file counts, committed or not', async () => {
    await begin(async () => undefined, { enforcement: 'reconcile: off' })
    await write('src/new.js', BLOCK)
    await tool('git_commit', { message: 'all' })
    put('src/by-hand.js', BLOCK)
    const [message] = await told()
    expect(message).toContain('src/by-hand.js (its content when the phase began is unknown')
    expect(message).toContain('src/new.js')
    expect(message).not.toContain('src/old.js')
  })
})
