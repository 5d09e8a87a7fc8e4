import { spawn, spawnSync } from 'node:child_process'
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { isFullDepth } from '../depth.js'
import { built, Place, SCRIPT, type Server } from './program.js'

beforeAll(built)

const contract = (more = '', name = 'ours') =>
  `name: ${name}\nversion: "1"\nphases:\n  - {id: A, allowed_tools: [bash]}\n  - {id: B}\n${more}\n`
const HARMLESS = contract('commands: {tests: {run: npm test}}')
const HOSTILE = contract(
  'enforcement: {confinement: off}\nwebhooks: [{url: "http://127.0.0.1:9", events: [task_parked]}]',
)
const RUN_MS_MAX = 300_000
// The sandbox itself is not looked at here, and trying it takes time.
const QUICK = ['--confinement', 'none']

const places: Place[] = []
afterAll(() => Promise.all(places.map((one) => one.close())))

/** A fresh home with a work tree that holds these files, as a clone would. */
function cloned(files: Readonly<Record<string, string>>): Place {
  const place = new Place(() => undefined)
  places.push(place)
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(join(place.work, name, '..'), { recursive: true })
    writeFileSync(join(place.work, name), text)
  }
  return place
}

async function stopped(server: Server): Promise<void> {
  server.kill('SIGTERM')
  await server.ended
}

async function api(server: Server, path: string, body?: unknown): Promise<Record<string, unknown>> {
  const token = readFileSync(join(server.stateDir, 'operator.token'), 'utf8').trim()
  const answer = await fetch(`${server.url}/api/v1${path}`, {
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }),
  })
  return (await answer.json()) as Record<string, unknown>
}

async function defaultContract(server: Server): Promise<Record<string, unknown>> {
  const { contracts } = (await api(server, '/contracts')) as { contracts: Record<string, unknown>[] }
  return contracts.find((one) => one.default === true) ?? {}
}

const ready = (server: Server) => JSON.parse(/^\{"event":"ready".*\}$/m.exec(server.output())?.[0] ?? '{}')

describe.concurrent('a contract in a cloned repository', () => {
  it(
    '[REQ-TRUST-2] [REQ-TRUST-3] does not start where it asks for more than the sandbox, until an operator accepts it',
    async () => {
      const place = cloned({ 'agent_workflow.yaml': HOSTILE })
      for (const command of ['serve', 'up']) {
        const ended = await place.run([command, '--port', '0', ...QUICK])
        expect(ended).toMatchObject({ code: 1, stdout: '' })
        expect(ended.stderr).toContain('off: commands run without a sandbox')
        expect(ended.stderr).toContain('http://127.0.0.1:9')
        expect(ended.stderr).toMatch(/accept it with: .*phaselock trust agent_workflow\.yaml/)
      }
      expect((await place.run(['trust'])).code, 'without a terminal and without --yes').toBe(1)
      expect((await place.run(['serve', '--port', '0', ...QUICK])).code).toBe(1)
      const accepted = await place.json(['trust', '--yes'])
      expect(accepted).toMatchObject({ name: 'ours', changes: [], permissions: expect.any(Array) })
      const server = await place.serve(QUICK)
      expect(await defaultContract(server)).toMatchObject({ hash: accepted.hash, trusted: true })
      await stopped(server)

      expect(await place.json(['untrust'])).toMatchObject({ removed: true, hash: accepted.hash })
      const again = await place.run(['serve', '--port', '0', ...QUICK])
      expect(again.code, 'although the ledger knows the contract').toBe(1)
    },
    RUN_MS_MAX,
  )

  it(
    '[REQ-TRUST-2] starts without a terminal where it asks for nothing beyond commands in the sandbox, and is pinned',
    async () => {
      const place = cloned({ 'agent_workflow.yaml': HARMLESS })
      const first = await place.serve(QUICK)
      expect(await defaultContract(first)).toMatchObject({ name: 'ours', trusted: false })
      await stopped(first)
      writeFileSync(join(place.work, 'agent_workflow.yaml'), contract('', 'weaker'))
      const second = await place.serve(QUICK)
      expect(await defaultContract(second)).toMatchObject({ name: 'ours' })
      expect(second.output()).toMatch(/agent_workflow\.yaml was changed.*\n.*phaselock trust agent_workflow\.yaml/)
    },
    RUN_MS_MAX,
  )

  it.runIf(isFullDepth())(
    '[REQ-TRUST-2] [REQ-TRUST-3] that started without a question gains no rights by it, at this start or a later one',
    async () => {
      const place = cloned({ 'agent_workflow.yaml': HARMLESS })
      const first = await place.serve(QUICK)
      const { hash } = await defaultContract(first)
      await stopped(first)
      expect((await place.json(['trust', '--list'])).contracts).toMatchObject([{ hash, by: 'found', trusted: false }])
      const second = await place.serve(QUICK)
      expect(await defaultContract(second), 'the same text').toMatchObject({ hash, trusted: false })
      expect(ready(second).contract.notes ?? []).toEqual([])
      await stopped(second)
      // The ledger knows it, which is an operator's word only for contracts that one made known.
      rmSync(join(second.stateDir, 'contracts'), { recursive: true })
      const third = await place.serve(QUICK)
      expect(await defaultContract(third), 'without its pin').toMatchObject({ hash, trusted: false })
      await stopped(third)
      writeFileSync(join(place.work, 'agent_workflow.yaml'), HOSTILE)
      const fourth = await place.serve(QUICK)
      expect(await defaultContract(fourth), 'another text').toMatchObject({ hash, trusted: false })
      expect(fourth.output()).toContain('agent_workflow.yaml was changed')
      await stopped(fourth)
      writeFileSync(join(place.work, 'agent_workflow.yaml'), HARMLESS)
      expect(await place.json(['trust', '--yes'])).toMatchObject({ hash })
      const fifth = await place.serve(QUICK)
      expect(await defaultContract(fifth), 'accepted').toMatchObject({ hash, trusted: true })
    },
    RUN_MS_MAX,
  )

  it.runIf(isFullDepth())(
    '[REQ-TRUST-2] is found as agent_workflow.yaml, else as the folder agent_workflow, and under no other name',
    async () => {
      const others = ['agent_workflow.yml', 'agent_workflow.json', 'agent_workflow.md', 'Agent_Workflow.yaml']
      const place = cloned(Object.fromEntries(others.map((name) => [name, contract('', 'other')])))
      const first = await place.serve(QUICK)
      expect(await defaultContract(first)).toMatchObject({ origin: 'bundled:tdd' })
      await stopped(first)
      mkdirSync(join(place.work, 'agent_workflow/phases/1'), { recursive: true })
      writeFileSync(join(place.work, 'agent_workflow/metadata.yaml'), 'workflow_type: folder\nversion: "1"\n')
      writeFileSync(
        join(place.work, 'agent_workflow/phases/1/phase.md'),
        '# Phase 1: Do it\n\n## Checkpoint\n\n- `n` (integer)\n',
      )
      const explained = async () => (await place.json(['trust', '--yes'])).name
      expect(await explained()).toBe('folder')
      await place.json(['untrust'])
      writeFileSync(join(place.work, 'agent_workflow.yaml'), contract('', 'file'))
      expect(await explained()).toBe('file')
    },
    RUN_MS_MAX,
  )

  it.runIf(isFullDepth())(
    '[REQ-TRUST-2] cannot be replaced by a file beside it or by deleting it',
    async () => {
      const place = cloned({ 'agent_workflow/metadata.yaml': 'workflow_type: ours\nversion: "1"\n' })
      mkdirSync(join(place.work, 'agent_workflow/phases/1'), { recursive: true })
      writeFileSync(
        join(place.work, 'agent_workflow/phases/1/phase.md'),
        '# Phase 1: Do it\n\n## Checkpoint\n\n- `n` (integer)\n',
      )
      expect((await place.json(['trust', '--yes', 'agent_workflow'])).name).toBe('ours')
      writeFileSync(join(place.work, 'agent_workflow.yaml'), contract('', 'planted'))
      const first = await place.serve(QUICK)
      expect(await defaultContract(first)).toMatchObject({ name: 'ours' })
      await stopped(first)
      rmSync(join(place.work, 'agent_workflow'), { recursive: true })
      rmSync(join(place.work, 'agent_workflow.yaml'))
      const second = await place.serve(QUICK)
      expect(await defaultContract(second)).toMatchObject({ name: 'ours' })
      expect(ready(second).contract.notes.join(' ')).toMatch(/is gone.*phaselock untrust/)
    },
    RUN_MS_MAX,
  )

  it.runIf(isFullDepth())('[REQ-TRUST-3] that is a link out of the work tree is not used silently', async () => {
    const place = cloned({})
    writeFileSync(join(place.home, 'elsewhere.yaml'), HARMLESS)
    symlinkSync(join(place.home, 'elsewhere.yaml'), join(place.work, 'agent_workflow.yaml'))
    const ended = await place.run(['serve', '--port', '0', ...QUICK])
    expect(ended.code).toBe(1)
    expect(ended.stderr).toContain(`The file is a link to ${join(place.home, 'elsewhere.yaml')}`)
  })
})

describe.runIf(isFullDepth()).concurrent('an operator’s word', () => {
  it(
    '[REQ-TRUST-2] is the bundled contract, and a contract that serve is told by name, without a terminal',
    async () => {
      const place = cloned({})
      const bundled = await place.serve(QUICK)
      expect(await defaultContract(bundled)).toMatchObject({ origin: 'bundled:tdd', trusted: true })
      await stopped(bundled)
      writeFileSync(join(place.work, 'tdd'), HOSTILE)
      expect((await place.json(['explain', 'tdd'])).name, 'a file of that name is not meant').toBe('tdd')
      writeFileSync(join(place.work, 'agent_workflow.yaml'), HOSTILE)
      const named = await place.serve([...QUICK, '--contract', 'agent_workflow.yaml'])
      expect(await defaultContract(named)).toMatchObject({ name: 'ours', trusted: true })
      await stopped(named)
      const found = await place.serve(QUICK)
      expect(await defaultContract(found), 'named once, it is pinned').toMatchObject({ name: 'ours', trusted: true })
      await stopped(found)
      // State directories of earlier versions have no pins: what their ledger knows counts.
      rmSync(join(found.stateDir, 'contracts'), { recursive: true })
      const earlier = await place.serve(QUICK)
      expect(await defaultContract(earlier)).toMatchObject({ name: 'ours', trusted: true })
    },
    RUN_MS_MAX,
  )

  it(
    '[REQ-TRUST-2] is init: its contract starts in the background, and the message says what it asks for',
    async () => {
      const place = cloned({ 'package.json': '{"scripts":{"test":"node --test"}}' })
      expect((await place.run(['init', '--template', 'guardrails', '--yes'])).code).toBe(0)
      expect((await place.json(['trust', '--list'])).contracts).toMatchObject([{ by: 'init', trusted: true }])
      const up = await place.run(['up', '--port', '0', ...QUICK])
      try {
        expect(up.code, up.stderr).toBe(0)
        expect(up.stdout).toMatch(/It asks for:\n {2}commands.*\n[\s\S]*confinement {2,}\w+: /)
      } finally {
        await place.run(['down'])
      }
      const before = await place.json(['trust', '--list'])
      writeFileSync(join(place.work, 'agent_workflow.yaml'), contract('', 'weaker'))
      for (const start of ['the next start', 'the one after it']) {
        const again = await place.run(['up', '--port', '0', ...QUICK])
        await place.run(['down'])
        expect(again.stdout, start).toMatch(/agent_workflow\.yaml was changed.*\n.*phaselock trust/)
        expect(again.stdout, start).not.toContain('weaker')
      }
      expect(await place.json(['trust', '--list'])).toEqual(before)
    },
    RUN_MS_MAX,
  )

  it(
    '[REQ-TRUST-2] of init may be edited harmlessly before the first start, and is pinned after it',
    async () => {
      const place = cloned({ 'package.json': '{"scripts":{"test":"node --test"}}' })
      await place.run(['init', '--template', 'guardrails', '--yes'])
      const file = join(place.work, 'agent_workflow.yaml')
      writeFileSync(file, HOSTILE)
      expect((await place.run(['serve', '--port', '0', ...QUICK])).code).toBe(1)
      writeFileSync(file, HARMLESS)
      const first = await place.serve(QUICK)
      expect(await defaultContract(first)).toMatchObject({ name: 'ours', trusted: false })
      await stopped(first)
      writeFileSync(file, contract('', 'weaker'))
      const second = await place.serve(QUICK)
      expect(await defaultContract(second)).toMatchObject({ name: 'ours' })
    },
    RUN_MS_MAX,
  )

  it(
    '[REQ-TRUST-2] keeps the accepted text while the file is edited; running tasks keep theirs; trust shows what differs',
    async () => {
      const place = cloned({ 'agent_workflow.yaml': HARMLESS })
      await place.run(['trust', '--yes'])
      const first = await place.serve(QUICK)
      const { hash } = await defaultContract(first)
      await api(first, '/tasks', { id: 'old', title: 'A task' })
      appendFileSync(join(place.work, 'agent_workflow.yaml'), 'enforcement: {confinement: off}\n')
      await stopped(first)
      const second = await place.serve(QUICK)
      expect((await defaultContract(second)).hash).toBe(hash)
      expect(ready(second).contract).toMatchObject({
        hash,
        trusted: true,
        notes: [expect.stringContaining('was changed'), expect.any(String)],
      })
      const shown = await place.run(['trust', '--yes'])
      expect(shown.stdout).toContain('enforcement.confinement: "required" -> "off"')
      expect(shown.stdout).toContain('from its next start')
      await stopped(second)
      const third = await place.serve(QUICK)
      expect((await defaultContract(third)).hash).not.toBe(hash)
      expect(await api(third, '/tasks/old')).toMatchObject({ contract: { hash } })
      expect(ready(third)).toMatchObject({ confinement: { contract: 'off' } })
      await stopped(third)
      const pinned = join(third.stateDir, 'contracts')
      for (const name of readdirSync(pinned).filter((one) => /^[0-9a-f]{64}/.test(one)))
        writeFileSync(join(pinned, name), readFileSync(join(pinned, name), 'utf8').replace('npm test', 'npm rest'))
      rmSync(join(place.work, 'agent_workflow.yaml'))
      expect((await place.run(['serve', '--port', '0', ...QUICK])).stderr, 'a pin that was changed').toContain(
        'is missing or was changed',
      )
    },
    RUN_MS_MAX,
  )

  it(
    '[REQ-TRUST-4] [REQ-TRUST-8] does not lower the least confinement, and the banner says what holds',
    async () => {
      const place = cloned({ 'open.yaml': HOSTILE })
      const ended = await place.run([
        'serve',
        '--port',
        '0',
        '--contract',
        'open.yaml',
        '--min-confinement',
        'required',
      ])
      expect(ended.code).toBe(1)
      expect(ended.stderr).toContain('asks for confinement off, and --min-confinement demands required')
      const child = spawn(process.execPath, [SCRIPT, 'serve', '--port', '0', '--contract', 'open.yaml'], {
        cwd: place.work,
        env: place.environment,
        stdio: ['ignore', 'pipe', 'ignore'],
      })
      let text = ''
      child.stdout.on('data', (chunk) => (text += chunk))
      while (!text.includes('Ctrl-C stops.')) await new Promise((resolve) => setTimeout(resolve, 50))
      child.kill('SIGTERM')
      expect(text).toContain('NO: the contract says confinement: off')
      expect(text).not.toContain('no writes outside the tree')
      expect(text).toMatch(/Asks for +commands +bash in A/)
      await new Promise((resolve) => child.once('close', resolve))
    },
    RUN_MS_MAX,
  )
})

describe.runIf(isFullDepth()).concurrent('on a terminal', () => {
  const onTerminal = async (
    place: Place,
    answer: string,
    program = 'serve',
  ): Promise<{ readonly output: string; readonly code: number | null }> => {
    const command = `exec ${process.execPath} ${SCRIPT} ${program} --port 0 --confinement none`
    const child = spawn('script', ['-qefc', command, '/dev/null'], {
      cwd: place.work,
      env: { ...place.environment, TERM: 'dumb', SHELL: '/bin/sh' },
      stdio: ['pipe', 'pipe', 'ignore'],
    })
    let output = ''
    child.stdout.on('data', (chunk) => (output += chunk))
    const ended = new Promise<number | null>((resolve) => child.once('close', resolve))
    const until = async (text: string): Promise<void> => {
      for (let tries = 0; tries < 400 && !output.includes(text); tries += 1)
        await new Promise((resolve) => setTimeout(resolve, 50))
    }
    await until('[y/N]')
    child.stdin.write(`${answer}\n`)
    if (answer === 'y' && program === 'serve') {
      await until('Ctrl-C stops.')
      child.stdin.write('\u0003')
    }
    const code = await ended
    return { output, code }
  }

  it(
    '[REQ-TRUST-2] a found contract is shown with its permissions before the question, and y is remembered',
    async (context) => {
      if (spawnSync('script', ['--version']).status !== 0) return context.skip()
      const place = cloned({ 'agent_workflow.yaml': HOSTILE })
      const refused = await onTerminal(place, 'n')
      expect(refused.code).toBe(1)
      expect(refused.output).toMatch(/asks for:[\s\S]*off: commands run without a sandbox[\s\S]*\[y\/N\]/)
      expect(refused.output).not.toContain('is ready')
      expect(existsSync(join(place.home, 'state')) && (await place.json(['trust', '--list'])).contracts).toEqual([])
      const accepted = await onTerminal(place, 'y')
      expect(accepted.output).toContain('is ready')
      expect((await place.json(['trust', '--list'])).contracts).toMatchObject([{ by: 'terminal', trusted: true }])
      const server = await place.serve(QUICK)
      expect(await defaultContract(server)).toMatchObject({ trusted: true })
    },
    RUN_MS_MAX,
  )

  it(
    '[REQ-TRUST-2] up asks before it starts a server in the background',
    async (context) => {
      if (spawnSync('script', ['--version']).status !== 0) return context.skip()
      const place = cloned({ 'agent_workflow.yaml': HOSTILE })
      const refused = await onTerminal(place, 'n', 'up')
      expect(refused.code).toBe(1)
      expect((await place.run(['down'])).stdout).toContain('No server runs')
      const accepted = await onTerminal(place, 'y', 'up')
      try {
        expect(accepted.output).toMatch(/\[y\/N\][\s\S]*Phaselock runs at/)
        expect(accepted.code).toBe(0)
      } finally {
        await place.run(['down'])
      }
    },
    RUN_MS_MAX,
  )
})
