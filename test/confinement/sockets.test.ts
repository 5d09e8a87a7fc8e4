import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, chownSync, copyFileSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { checkSockets } from '../../src/confinement/sockets.js'
import { accounts, belongingTo, SYSTEM_PATH } from './account.js'
import { copyProgram, type Program } from './program.js'
import { type Setting, someSettings } from './stage.js'

const RUN_MS_MAX = 300_000
const RUNNER = fileURLToPath(new URL('sockets-runner.mjs', import.meta.url))

interface Line {
  readonly how: 'plain' | 'given' | 'inside' | 'networked'
  readonly line: string
}

interface Result {
  readonly exitCode: number
  readonly stdout: string
  readonly stderr: string
}

interface Report {
  readonly provider: string
  readonly results: readonly Result[]
  readonly arrived: { readonly given: number; readonly other: number; readonly port: number }
}

let program: Program
const made: string[] = []
beforeAll(async () => {
  program = await copyProgram(accounts())
}, RUN_MS_MAX)
afterAll(() => {
  program.remove()
  for (const dir of made) rmSync(dir, { recursive: true, force: true })
})

async function run({ provider, account }: Setting, lines: readonly Line[]): Promise<Report> {
  const dir = mkdtempSync('/var/tmp/phaselock-sockets-')
  made.push(dir)
  chownSync(dir, account.uid, account.gid)
  const dist = join(dirname(dirname(program.script)), 'dist')
  const runner = join(dir, 'runner.mjs')
  copyFileSync(RUNNER, runner)
  chmodSync(runner, 0o644)
  const child = spawn(program.node, [runner, dist, JSON.stringify({ provider, dir, lines })], {
    ...belongingTo(account),
    cwd: '/',
    env: { PATH: SYSTEM_PATH, HOME: dir },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let output = ''
  child.stdout?.on('data', (chunk: Buffer) => {
    output += chunk.toString()
  })
  await once(child, 'close')
  return JSON.parse(output) as Report
}

/** Prints what answers at a socket or port, or why nothing does. */
const ask = (to: string): string =>
  `node -e 'require("net").connect(${to}).on("data",d=>process.stdout.write(d)).on("error",e=>console.log(e.code))'`
const AT = '/run/phaselock/orchestrator.sock'

const REACHING: readonly Line[] = [
  { how: 'plain', line: ask(`"${AT}"`) },
  { how: 'plain', line: ask('"GIVEN"') },
  { how: 'given', line: ask('"OTHER"') },
  { how: 'given', line: ask('"GIVEN"') },
  { how: 'given', line: ask('PORT,"127.0.0.1"') },
  { how: 'given', line: 'ls -A DOORS 2>&1; ls -A /run/phaselock' },
  { how: 'given', line: `chmod 777 ${AT}; rm ${AT}; touch /run/phaselock/more; mv ${AT} /tmp; ls -A /run/phaselock` },
  { how: 'given', line: ask(`"${AT}"`) },
  { how: 'plain', line: 'ls -A /run/phaselock' },
]
const CARRYING: readonly Line[] = [
  { how: 'networked', line: 'echo started' },
  { how: 'inside', line: ask('8701,"127.0.0.1"') },
  { how: 'inside', line: ask('PORT,"127.0.0.1"') },
  { how: 'inside', line: ask('53,"8.8.8.8"') },
  { how: 'inside', line: `node -e 'require("dns").resolve("example.com",e=>console.log(e.code))'` },
  { how: 'inside', line: ask('8700,"127.0.0.1"') },
  { how: 'inside', line: 'echo $PHASELOCK_URL; exit 7' },
  { how: 'inside', line: 'kill -TERM $$' },
  { how: 'inside', line: `trap 'echo asked to end; exit 3' TERM; kill -TERM $PPID; while :; do sleep 0.05; done` },
  { how: 'inside', line: 'cat' },
]

describe.concurrent.each(someSettings())('$name', (setting) => {
  let asked: Promise<Report> | null = null
  const report = (): Promise<Report> => {
    asked ??= run(setting, [...REACHING, ...CARRYING])
    return asked
  }

  it(
    '[REQ-SOCKET-1] a command reaches the one socket that it is given, and nothing else of its folder or of the network',
    async () => {
      const { provider, results, arrived } = await report()
      expect(provider).toBe(setting.provider)
      const said = results.map((one) => one.stdout.trim())
      expect(said.slice(0, 5)).toEqual(['ENOENT', 'ENOENT', 'ENOENT', 'ENOENT', 'ECONNREFUSED'])
      expect(said[5]).toMatch(/No such file or directory\norchestrator\.sock$/)
      expect(said[6]).toBe('orchestrator.sock')
      expect(results[6]?.stderr.split('\n').filter((line) => line !== '')).toHaveLength(4)
      expect(said[7]).toBe('given answers')
      expect(said[8]).toBe('')
      expect(arrived).toEqual({ given: 2, other: 0, port: 0 })
    },
    RUN_MS_MAX,
  )

  it(
    '[REQ-SOCKET-2] the program inside carries the port to the socket and to nothing else, and ends as the agent ends',
    async () => {
      const results = (await report()).results.slice(REACHING.length)
      const said = results.map((one) => one.stdout.trim())
      expect(results[0]).toMatchObject({ exitCode: 126, stdout: '' })
      expect(said.slice(1, 6)).toEqual(['ECONNREFUSED', 'ECONNREFUSED', 'ENETUNREACH', 'ECONNREFUSED', 'given answers'])
      expect(results[6]).toMatchObject({ exitCode: 7, stdout: 'http://127.0.0.1:8700\n' })
      expect(results[7]?.exitCode).toBe(143)
      expect(results[8]).toMatchObject({ exitCode: 3, stdout: 'asked to end\n' })
      expect(results[9]?.exitCode).toBe(0)
    },
    RUN_MS_MAX,
  )
})

describe('what a command may be given as a socket', () => {
  const dir = mkdtempSync(join(tmpdir(), 'phaselock-sockets-'))
  made.push(dir)
  const tree = join(dir, 'tree')

  it('[REQ-SOCKET-1] a file, a folder, a link, a socket in its tree and a missing one are refused', async () => {
    mkdirSync(tree)
    writeFileSync(join(dir, 'file'), '')
    const listening = [join(dir, 'real'), join(tree, 'planted')].map((path) => {
      const server = createServer()
      return new Promise<typeof server>((resolve) => server.listen(path, () => resolve(server)))
    })
    const servers = await Promise.all(listening)
    symlinkSync(join(dir, 'real'), join(dir, 'link'))
    const check = (path: string, name = 'model') => checkSockets({ tree, sockets: [{ name, path }] })
    for (const path of ['file', 'link', 'tree', 'absent', 'tree/planted', 'tree/../tree/planted'])
      expect(() => check(join(dir, path)), path).toThrow('does not exist')
    expect(() => check('real')).toThrow('does not exist')
    for (const name of ['', '../x', 'a/b', 'UPPER', 'x'.repeat(21), '.'])
      expect(() => check(join(dir, 'real'), name), name).toThrow('short word')
    const real = { name: 'model', path: join(dir, 'real') }
    expect(() => checkSockets({ tree, sockets: [real, real] })).toThrow('the same name')
    const many = Array.from({ length: 9 }, (_, at) => ({ ...real, name: 'abcdefghi'.charAt(at) }))
    expect(() => checkSockets({ tree, sockets: many })).toThrow('at most 8')
    expect(() => checkSockets({ tree, sockets: many.slice(1) })).not.toThrow()
    for (const server of servers) server.close()
  })
})
