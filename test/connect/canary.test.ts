import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { SCRIPT } from '../cli/program.js'
import { makeRepository } from '../e2e/projects.js'
import { claudeCode, codex, gemini, opencode, placeOpencodePlugin } from '../participants/real-agents.js'

// Up to five runs of an agent CLI, which doctor ends after two minutes each.
const RUN_MS_MAX = 600_000
const found = { claude: claudeCode(), codex: codex(), gemini: gemini(), opencode: opencode() }
let dir = ''
let repository = ''
beforeEach(() => {
  dir = realpathSync(mkdtempSync(join(tmpdir(), 'phaselock-canary-test-')))
  repository = join(dir, 'repository')
  mkdirSync(join(dir, 'home/.codex'), { recursive: true })
  makeRepository(repository, { 'a.txt': 'a\n' })
  // As after the question whether this folder is trusted.
  writeFileSync(
    join(dir, 'home/.codex/config.toml'),
    `[projects.${JSON.stringify(repository)}]\ntrust_level = "trusted"\n`,
  )
  writeFileSync(
    join(dir, 'home/.claude.json'),
    JSON.stringify({ projects: { [repository]: { hasTrustDialogAccepted: true } } }),
  )
  if (found.opencode.ok) placeOpencodePlugin(join(dir, 'home/.config/opencode'))
})
afterEach(() => rmSync(dir, { recursive: true, force: true }))

function run(program: string, words: readonly string[]) {
  const programs = Object.values(found).flatMap((one) => (one.ok ? [dirname(one.program)] : []))
  const PATH = [...programs, dirname(SCRIPT), dirname(process.execPath), '/usr/bin', '/bin'].join(':')
  return spawnSync(program, words, { cwd: repository, env: { HOME: join(dir, 'home'), PATH }, encoding: 'utf8' })
}

const phaselock = (...words: readonly string[]) => run(SCRIPT, words)

/** With an /etc of its own: what is written there is in a folder of this test. */
function underOwnEtc(...words: readonly string[]) {
  const [upper, work] = [join(dir, 'etc'), join(dir, 'work')]
  for (const folder of [upper, work]) mkdirSync(folder, { recursive: true })
  const mount = 'mount -t overlay overlay -o "lowerdir=/etc,upperdir=$0,workdir=$1" /etc && shift && exec "$@"'
  return run('unshare', ['--mount', 'sh', '-c', mount, upper, work, ...words])
}
const canMount = process.getuid?.() === 0 && spawnSync('unshare', ['--mount', 'true']).status === 0

type Found = { name: string; status: string; detail: string }
const doctor = (call = phaselock) => {
  const { status, stdout } = call('doctor', '--agents', '--json')
  const { findings } = JSON.parse(stdout) as { findings: Found[] }
  return { status, about: (name: string) => findings.find((one) => one.name === name) }
}

describe.skipIf(!found.claude.ok)('the canary of Claude Code', () => {
  it(
    '[REQ-CONNECT-6] is executed where a setting switches the hooks off, and refused where the binding holds',
    () => {
      expect(doctor().about('claude')).toMatchObject({ status: 'ok', detail: expect.stringContaining('no binding') })
      phaselock('connect', 'claude', '--yes', '--native')
      writeFileSync(join(repository, '.claude/settings.local.json'), '{"disableAllHooks": true}')
      const open = doctor()
      expect(open.about('claude canary')).toMatchObject({
        status: 'missing',
        detail: expect.stringContaining('enforcement_not_live'),
      })
      expect(open.status).toBe(1)
      rmSync(join(repository, '.claude/settings.local.json'))
      const closed = doctor()
      expect(closed.about('claude canary')).toMatchObject({ status: 'ok', detail: expect.stringContaining('refused') })
      expect(closed.status).toBe(0)
      phaselock('connect', 'claude', '--yes')
      expect(doctor().about('claude canary')).toMatchObject({ status: 'ok' })
      // Without hooks the own tools are still off.
      writeFileSync(join(repository, '.claude/settings.local.json'), '{"disableAllHooks": true}')
      expect(doctor().about('claude canary')).toMatchObject({ status: 'ok' })
    },
    RUN_MS_MAX,
  )
})

describe.skipIf(!found.claude.ok || !canMount)('the managed settings of Claude Code', () => {
  it(
    '[REQ-CONNECT-6] hold where a setting of the repository switches hooks off, and go with disconnect',
    () => {
      const managed = (...words: readonly string[]) => underOwnEtc(SCRIPT, ...words)
      const file = join(dir, 'etc/claude-code/managed-settings.json')
      const connected = managed('connect', 'claude', '--native', '--managed', '--yes')
      expect(connected.stdout + connected.stderr).toContain('managed')
      expect(existsSync(file)).toBe(true)
      writeFileSync(join(repository, '.claude/settings.local.json'), '{"disableAllHooks": true}')
      expect(doctor(managed).about('claude canary')).toMatchObject({
        status: 'ok',
        detail: expect.stringContaining('refused'),
      })
      managed('disconnect', 'claude', '--yes')
      expect(existsSync(file)).toBe(false)
    },
    RUN_MS_MAX,
  )
})

/** What a person could write into the file instead. */
const OTHERS = [
  { cli: 'codex', file: '.codex/config.toml', text: 'sandbox_mode = "danger-full-access"\n' },
  { cli: 'gemini', file: '.gemini/settings.json', text: '{}\n' },
  { cli: 'opencode', file: 'opencode.json', text: '{}\n' },
] as const

for (const { cli, file, text } of OTHERS)
  describe.skipIf(!found[cli].ok)(`the canary of ${cli}`, () => {
    it(
      '[REQ-CONNECT-6] is executed where the entries are gone, and refused where the binding holds',
      () => {
        phaselock('connect', cli, '--yes')
        expect(doctor().about(`${cli} canary`)).toMatchObject({ status: 'ok' })
        writeFileSync(join(repository, file), text)
        const open = doctor()
        expect(open.about(`${cli} files`)).toMatchObject({ status: 'warning' })
        expect(open.about(`${cli} canary`)).toMatchObject({ status: 'missing' })
        expect(open.status).toBe(1)
      },
      RUN_MS_MAX,
    )
  })
