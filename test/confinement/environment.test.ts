import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { chmodSync, chownSync, copyFileSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Account, accounts, belongingTo, SYSTEM_PATH } from './account.js'
import { copyProgram, type Program } from './program.js'
import { someSettings } from './stage.js'
import { WITHOUT_NETWORK } from './without-network.js'

const CLEAN = ['HOME', 'LANG', 'LOGNAME', 'PATH', 'RIGHT', 'SHELL', 'TERM', 'TMPDIR', 'USER']

const RUN_MS_MAX = 300_000
const RUNNER = fileURLToPath(new URL('environment-runner.mjs', import.meta.url))
const ODD = `one "two" 'three' $(id) \`id\` \\ %s\nfour\t;five&  é😀\n`
const LONG = 'x'.repeat(100_000)

interface Result {
  readonly exitCode: number
  readonly seen: readonly string[] | null
  readonly stdout: string
  readonly stderr: string
}

interface Asked {
  readonly argv: readonly string[]
  readonly env: Readonly<Record<string, string>>
  readonly secret?: string
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

function newPlace(account: Account): string {
  const dir = mkdtempSync('/var/tmp/phaselock-environment-')
  made.push(dir)
  chownSync(dir, account.uid, account.gid)
  return dir
}

async function run(
  { provider, account }: { readonly provider: string; readonly account: Account },
  dir: string,
  secret: string,
): Promise<readonly Result[]> {
  const dist = join(dirname(dirname(program.script)), 'dist')
  const runner = join(dir, 'runner.mjs')
  copyFileSync(RUNNER, runner)
  chmodSync(runner, 0o644)
  const child = spawn(program.node, [runner, dist], {
    ...belongingTo(account),
    cwd: '/',
    // Of the server's own environment nothing may reach what starts commands.
    env: { PATH: SYSTEM_PATH, HOME: dir, BASH_ENV: '/nowhere', PS4: secret, ENV: secret },
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  child.stdin?.end(JSON.stringify({ provider, dir, jobs: asked(dir, secret, provider !== 'none') }))
  let output = ''
  child.stdout?.on('data', (chunk: Buffer) => {
    output += chunk.toString()
  })
  await once(child, 'close')
  const report = JSON.parse(output) as { readonly provider: string; readonly results: readonly Result[] }
  expect(report.provider).toBe(provider)
  return report.results
}

const PRINT_ALL = `console.log(JSON.stringify(process.env)); console.log('READY')`
const asked = (dir: string, secret: string, isConfined: boolean): readonly Asked[] => [
  {
    argv: ['node', '-e', PRINT_ALL],
    env: {
      [`A=1; touch ${dir}/run; B`]: 'y',
      [`A[$(touch ${dir}/run)]`]: 'y',
      'BASH_FUNC_id%%': `() { touch ${dir}/run; }`,
      ...{ '': 'empty', '1A': 'y', 'A-B': 'y', 'A B': 'y', SHELLOPTS: 'xtrace', IFS: 'x', UID: '0', CUT: 'a\0LATE=b' },
      RIGHT: 'kept',
    },
  },
  { argv: ['node', '-e', PRINT_ALL], env: { ODD, LONG, EMPTY: '', n: 'kept', PATH: `/odd:${SYSTEM_PATH}` } },
  { argv: ['bash', '-c', `printf "%s|%s|%s|" "$ODD" "\${#LONG}" "$n"; echo READY`], env: { ODD, LONG, n: 'kept' } },
  // The loader writes what it loads to such a file, in whatever process it is set for.
  {
    argv: ['bash', '-c', 'echo "$LD_DEBUG"; ls / > /dev/null; LD_DEBUG= cat "$LD_DEBUG_OUTPUT".* | wc -l; echo READY'],
    env: isConfined ? { LD_DEBUG: 'libs', LD_DEBUG_OUTPUT: loaderFile(secret) } : {},
  },
  { argv: ['bash', '-c', 'echo "$SECRET"; echo READY; read _'], env: { SECRET: secret }, secret },
  { argv: ['bash', '-c', 'true; /bin/echo READY'], env: { LONG: 'x'.repeat(200_000) } },
]

describe.concurrent.each([
  ...someSettings(),
  ...accounts().map((account) => ({ name: `none, server of ${account.name}`, provider: 'none', account })),
])('$name', (setting) => {
  it(
    '[REQ-WALL-15] the environment of a command is set inside its sandbox alone, exactly, and never interpreted',
    async () => {
      const dir = newPlace(setting.account)
      const hidden = `planted-${randomBytes(24).toString('hex')}`
      const [named, exact, line, loaded, secret, long] = await run(setting, dir, hidden)
      expect(existsSync(join(dir, 'run'))).toBe(false)
      const seen = JSON.parse(named?.stdout.split('\n')[0] ?? '') as Record<string, string>
      const kept = Object.keys(seen).filter((name) => !/^(PWD|SHLVL|_|OLDPWD)$/.test(name))
      expect(kept.sort()).toEqual([...CLEAN, ...(setting.provider === 'none' ? [] : WITHOUT_NETWORK)].sort())
      const values = JSON.parse(exact?.stdout.split('\n')[0] ?? '') as Record<string, string>
      expect(values).toMatchObject({ ODD, LONG, EMPTY: '', n: 'kept', PATH: `/odd:${SYSTEM_PATH}` })
      expect(line?.stdout).toBe(`${ODD}|100000|kept|READY\n`)
      expect(secret).toMatchObject({ exitCode: 0, stdout: `${hidden}\nREADY\n` })
      if (setting.provider !== 'none') {
        expect(secret?.seen).toEqual([])
        expect(loaded?.stdout).toMatch(/^libs\n/)
        expect(loaded?.stdout).toMatch(/\n[1-9]\d*\nREADY\n$/)
        expect(loadedOutside(hidden)).toEqual([])
      }
      expect(long?.exitCode).not.toBe(0)
      expect(long?.stdout).toBe('')
    },
    RUN_MS_MAX,
  )
})

// Outside of the sandboxes, each of which has a /tmp for itself.
function loadedOutside(secret: string): readonly string[] {
  return readdirSync('/tmp').filter((name) => `/tmp/${name}`.startsWith(loaderFile(secret)))
}

function loaderFile(secret: string): string {
  return `/tmp/loaded-${secret.slice(-12)}`
}
