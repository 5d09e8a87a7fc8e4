import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { git } from '../e2e/projects.js'
import { Committer, commitAll, committingContract, inNewest, put } from './committing.js'
import { type Running, start } from './harness.js'

const RUN = committingContract('git: {hooks: run, author: "Ada L <ada@example.org>"}\n')
const SKIP = committingContract('')

function addHook(folder: string, name: string, script: string): void {
  mkdirSync(folder, { recursive: true })
  put(folder, { [name]: `#!/bin/bash\n${script}\n` })
  chmodSync(join(folder, name), 0o755)
}

describe('hooks of the repository', () => {
  const dir = realpathSync(mkdtempSync(join(tmpdir(), 'phaselock-hooks-')))
  const outside = join(dir, 'OUTSIDE')
  let running: Running
  let skipping: Running
  let count = 0

  /** A repository of its own in the given server, its hooks and an agent at work in it. */
  const begin = async (run: Running, hooks: Readonly<Record<string, string>>, settings: readonly string[] = []) => {
    count += 1
    const tree = join(dir, `tree-${count}`)
    put(tree, { 'a.txt': 'a\n', 'checks/check.sh': 'exit 0\n' })
    git(tree, 'init', '--quiet', '--initial-branch=main')
    commitAll(tree)
    for (const [name, script] of Object.entries(hooks)) addHook(join(tree, '.git/hooks'), name, script)
    if (settings.length > 0) git(tree, 'config', ...settings)
    const agent = await Committer.claim(run, `t${count}`, tree)
    return { tree, agent }
  }
  const finished = async (run: Running, task: string) => {
    const { body } = await run.call('GET', `/tasks/${task}/timeline?limit=500`, run.operator)
    const events = body.events as { type: string; data: object }[]
    return events.filter((one) => one.type === 'tool_finished').at(-1)?.data
  }

  beforeAll(async () => {
    const home = join(dir, 'home')
    put(home, { '.gitconfig': '[user]\n\tname = Olga Op\n\temail = olga@example.org\n' })
    const environment = { PATH: process.env.PATH, HOME: home }
    running = await start({ dir: join(dir, 'one'), contract: RUN, environment })
    skipping = await start({ dir: join(dir, 'two'), contract: SKIP, environment })
  })
  afterAll(async () => {
    await running.stop()
    await skipping.stop()
  })

  it('[REQ-COMMIT-10] are run before the commit, see what is committed, and can change the message', async () => {
    const { tree, agent } = await begin(running, {
      'pre-commit': '[ "$(git diff --cached --name-only)" = src/b.txt ]',
      'commit-msg': 'grep -q "^Add" "$1" || { echo "say Add"; exit 1; }; echo "Change-Id: I1" >> "$1"',
    })
    await agent.write('src/b.txt')
    expect((await agent.use('git_commit', { message: 'more' })).body).toMatchObject({
      code: 'tool_failed',
      detail: expect.stringMatching(/commit-msg.*refused the commit[\s\S]*say Add/),
    })
    const done = await agent.does('git_commit', { message: 'Add b' })
    expect(done).toMatchObject({ hooks: { ran: ['pre-commit', 'commit-msg'], skipped: [] } })
    expect(git(tree, 'log', '-1', '--format=%B')).toContain('Change-Id: I1')
    expect(inNewest(tree)).toEqual(['src/b.txt'])
    expect(await finished(running, `t${count}`)).toMatchObject({
      hooks: { ran: ['pre-commit', 'commit-msg'], skipped: [] },
    })
    expect(await agent.leave()).toMatchObject({ allowed: true })
  })

  it('[REQ-COMMIT-10] a hook that fails refuses the commit with its last lines', async () => {
    const { tree, agent } = await begin(running, {
      'pre-commit': 'for n in $(seq 1 500); do echo "line $n"; done; echo "src/b.txt: no semicolon"; exit 3',
    })
    const before = git(tree, 'rev-parse', 'HEAD')
    await agent.write('src/b.txt')
    const { body } = await agent.use('git_commit', { message: 'more' })
    expect(body).toMatchObject({ code: 'tool_failed' })
    expect(String(body.detail)).toMatch(/^git_commit: the hook pre-commit refused the commit \(exit code 3\)/)
    expect(String(body.detail)).toContain('src/b.txt: no semicolon')
    expect(String(body.detail)).not.toContain('line 12\n')
    expect(git(tree, 'rev-parse', 'HEAD')).toBe(before)
    expect(git(tree, 'diff', '--cached', '--name-only')).toBe('')
  })

  it('[REQ-COMMIT-10] a hook that changes files refuses the commit and names them; nothing it wrote is kept', async () => {
    const { tree, agent } = await begin(running, { 'pre-commit': 'echo formatted >> src/b.txt; git add src/b.txt' })
    await agent.write('src/b.txt', 'x\n')
    const { body } = await agent.use('git_commit', { message: 'more' })
    expect(String(body.detail)).toContain('the hook pre-commit changed src/b.txt')
    expect(readFileSync(join(tree, 'src/b.txt'), 'utf8')).toBe('x\n')
    expect(git(tree, 'log', '--format=%s').trim()).toBe('First')
  })

  it('[REQ-COMMIT-11] a hook that runs what the agent wrote cannot escape, read secrets or write anything', async () => {
    const secret = join(running.stateDir, 'operator.token')
    const { tree, agent } = await begin(running, { 'pre-commit': 'bash checks/check.sh; exit 0' })
    await agent.write(
      'checks/check.sh',
      `echo x > ${outside}; cat ${secret} > stolen.txt; cat agent_workflow.yaml >> stolen.txt
cp /bin/true .git/hooks/post-checkout; git config core.fsmonitor evil; git branch evil; git commit --no-verify -qm evil
echo "$(cat ${secret} || echo none)" | tee -a "$0.out" > .git/COMMIT_EDITMSG
(while :; do git update-ref refs/heads/evil HEAD; sleep 0.05; done) & exit 0\n`,
    )
    const done = await agent.use('git_commit', { message: 'take over' })
    expect(done.body).toMatchObject({ code: 'tool_failed' })
    expect(JSON.stringify(done.body)).not.toContain(readFileSync(secret, 'utf8').trim())
    expect(existsSync(outside)).toBe(false)
    expect(existsSync(join(tree, 'stolen.txt'))).toBe(false)
    expect(existsSync(join(tree, '.git/hooks/post-checkout'))).toBe(false)
    expect(git(tree, 'branch', '--list', '--format=%(refname:short)').trim()).toBe('main')
    expect(git(tree, 'log', '--format=%s').trim()).toBe('First')
    expect(git(tree, 'config', '--list')).not.toContain('evil')
    // The same hook with an honest script.
    await agent.write('checks/check.sh', 'exit 0\n')
    await agent.write('src/c.txt')
    expect(await agent.does('git_commit', { message: 'honest' })).toMatchObject({ hooks: { ran: ['pre-commit'] } })
  })

  it('[REQ-COMMIT-11] a hook in the work tree that the task changed is not run', async () => {
    count += 1
    const tree = join(dir, `tree-${count}`)
    put(tree, { 'a.txt': 'a\n' })
    git(tree, 'init', '--quiet', '--initial-branch=main')
    addHook(join(tree, 'tools/hooks'), 'pre-commit', 'echo refused; exit 1')
    commitAll(tree)
    git(tree, 'config', 'core.hooksPath', 'tools/hooks')
    const agent = await Committer.claim(running, `t${count}`, tree)
    await agent.write('b.txt')
    expect(String((await agent.use('git_commit', { message: 'b' })).body.detail)).toContain('pre-commit refused')
    await agent.does('bash', { command: 'echo "exit 0" > tools/hooks/pre-commit' })
    expect(String((await agent.use('git_commit', { message: 'b' })).body.detail)).toMatch(
      /tools\/hooks\/pre-commit.*was changed by this task/,
    )
  })

  it('[REQ-COMMIT-10] hooks outside of the work tree are refused at claim', async () => {
    addHook(join(dir, 'elsewhere'), 'pre-commit', 'exit 0')
    await expect(begin(running, {}, ['core.hooksPath', join(dir, 'elsewhere')])).rejects.toThrow(
      /core\.hooksPath.*elsewhere.*git\.hooks: skip/s,
    )
  })

  it('[REQ-COMMIT-12] without git.hooks they are skipped, and the ledger says so with the commit', async () => {
    const { tree, agent } = await begin(skipping, { 'pre-commit': 'exit 1', 'post-commit': `touch ${outside}` })
    await agent.write('src/b.txt')
    expect(await agent.does('git_commit', { message: 'more' })).toMatchObject({
      hooks: { ran: [], skipped: ['pre-commit', 'post-commit'] },
    })
    expect(await finished(skipping, `t${count}`)).toMatchObject({
      hooks: { ran: [], skipped: ['pre-commit', 'post-commit'] },
    })
    expect(inNewest(tree)).toEqual(['src/b.txt'])
  })

  it('[REQ-COMMIT-9] the author is the contract’s, else the operator’s, and the agent is co-author', async () => {
    const who = '%an <%ae> %cn <%ce>%n%(trailers:key=Co-authored-by)'
    const one = await begin(running, {})
    await one.agent.write('b.txt')
    await one.agent.does('git_commit', { message: 'work\n\nRefs: 7' })
    const agentId = `agent-t${count}`
    expect(git(one.tree, 'log', '-1', `--format=${who}`).trim()).toBe(
      `Ada L <ada@example.org> Ada L <ada@example.org>\nCo-authored-by: ${agentId} <${agentId}@localhost>`,
    )
    expect(git(one.tree, 'log', '-1', '--format=%(trailers:key=Refs)').trim()).toBe('Refs: 7')
    const two = await begin(skipping, {})
    await two.agent.write('b.txt')
    const made = await two.agent.does('git_commit', { message: 'work' })
    expect(made).toEqual({ commit: expect.any(String), author: 'Olga Op <olga@example.org>' })
    expect(git(two.tree, 'log', '-1', '--format=%an <%ae>').trim()).toBe('Olga Op <olga@example.org>')
    const three = await begin(skipping, {}, ['user.email', 'own@example.org'])
    await three.agent.write('b.txt')
    await three.agent.does('git_commit', { message: 'work' })
    expect(git(three.tree, 'log', '-1', '--format=%an <%ae>').trim()).toBe('Olga Op <own@example.org>')
  })
})
