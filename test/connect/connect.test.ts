import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { CliCommand } from '../../src/cli/cli-command.js'
import { CLAUDE_CODE_CONNECTION } from '../../src/cli/connect/claude-code.js'
import { addConnectCommands } from '../../src/cli/connect/connect-commands.js'
import { Stop } from '../../src/cli/exit.js'
import { built, SCRIPT } from '../cli/program.js'
import { git, makeRepository } from '../e2e/projects.js'

let dir = ''
let repository = ''
beforeAll(() => built(), 200_000)
beforeEach(() => {
  dir = realpathSync(mkdtempSync(join(tmpdir(), 'phaselock-connect-')))
  repository = join(dir, 'repository')
  mkdirSync(join(dir, 'home'))
  mkdirSync(join(dir, 'bin'))
  makeRepository(repository, { 'a.txt': 'a\n' })
  install('claude', '2.1.325')
  install('codex', '0.166.0')
})
afterEach(() => rmSync(dir, { recursive: true, force: true }))

/** A program that says its version, as far as `connect` needs it. */
function install(name: string, version: string): void {
  writeFileSync(join(dir, 'bin', name), `#!/bin/sh\necho '${version} (test)'\n`)
  chmodSync(join(dir, 'bin', name), 0o755)
}

interface Done {
  readonly status: number
  readonly stdout: string
  readonly stderr: string
}

/** The command in this process, with the PATH of a machine on which these agent CLIs are installed. */
async function phaselock(...words: readonly string[]): Promise<Done> {
  const [command = '', ...rest] = words
  const program = new CliCommand('phaselock').exitOverride()
  addConnectCommands(program)
  const said: string[] = []
  const write = vi.spyOn(process.stdout, 'write').mockImplementation((text) => said.push(String(text)) > 0)
  vi.stubEnv('PATH', `${join(dir, 'bin')}:${dirname(SCRIPT)}:/usr/bin:/bin`)
  vi.stubEnv('HOME', join(dir, 'home'))
  try {
    await program.parseAsync(['node', 'phaselock', command, ...rest, '--workspace', repository])
    return { status: 0, stdout: said.join(''), stderr: '' }
  } catch (error) {
    if (!(error instanceof Stop)) throw error
    return { status: error.exit, stdout: said.join(''), stderr: error.message }
  } finally {
    write.mockRestore()
    vi.unstubAllEnvs()
  }
}

const SETTINGS = '.claude/settings.json'
const read = (path: string): string => readFileSync(join(repository, path), 'utf8')
function write(path: string, text: string): void {
  mkdirSync(dirname(join(repository, path)), { recursive: true })
  writeFileSync(join(repository, path), text)
}

async function refuses(words: readonly string[], code: number, text: RegExp): Promise<void> {
  const before = git(repository, 'status', '--porcelain', '--ignored')
  const { status, stderr } = await phaselock(...words)
  expect({ status, stderr }).toEqual({ status: code, stderr: expect.stringMatching(text) })
  expect(stderr.trim().split('\n').length).toBeLessThanOrEqual(3)
  expect(git(repository, 'status', '--porcelain', '--ignored')).toBe(before)
}

describe('connect refuses', async () => {
  it('[REQ-CONNECT-2] an unknown or missing agent CLI, and one that is too old', async () => {
    await refuses(['connect', 'emacs', '--yes'], 2, /cannot be connected. Name one of: claude, codex, gemini, opencode/)
    await refuses(['connect', '--yes'], 2, /Name an agent CLI/)
    await refuses(['connect', 'gemini', '--yes'], 1, /not installed/)
    install('claude', '2.1.294')
    await refuses(['connect', 'claude', '--yes'], 1, /agent_cli_too_old/)
    await refuses(['connect', 'claude', '--yes', '--tools-only', '--native'], 2, /Choose one/)
    await refuses(['connect', 'codex', '--yes', '--native'], 1, /cannot hold the binding --native/)
    await refuses(['disconnect', 'claude', '--yes'], 1, /is not connected/)
  })

  it('[REQ-CONNECT-2] to write without being asked, and into files that are broken, read-only, links or huge', async () => {
    await refuses(['connect', 'claude'], 2, /nothing was written/)
    for (const [text, said] of [
      ['{"hooks": ', /settings.json is not valid JSON \(line 1/],
      ['[]', /is not a JSON object/],
      ['{ // note\n}', /comments or trailing commas/],
      ['{"hooks": []}', /has no object at hooks/],
      [`{"a": "${'x'.repeat(1_100_000)}"}`, /is larger than/],
    ] as const) {
      write(SETTINGS, text)
      await refuses(['connect', 'claude', '--yes'], 1, said)
      expect(read(SETTINGS)).toBe(text)
    }
    write(SETTINGS, '{}')
    chmodSync(join(repository, SETTINGS), 0o444)
    await refuses(['connect', 'claude', '--yes'], 1, /is read-only. Nothing was written/)
    rmSync(join(repository, '.claude'), { recursive: true })
    mkdirSync(join(dir, 'elsewhere'))
    symlinkSync(join(dir, 'elsewhere'), join(repository, '.claude'))
    await refuses(['connect', 'claude', '--yes'], 1, /symbolic link out of the repository/)
    rmSync(join(repository, '.claude'))
    write('other.json', '{}')
    mkdirSync(join(repository, '.claude'))
    symlinkSync('../other.json', join(repository, SETTINGS))
    await refuses(['connect', 'claude', '--yes'], 1, /is a symbolic link/)
    expect(read('other.json')).toBe('{}')
  })
})

describe('connect and disconnect', async () => {
  it('[REQ-CONNECT-3] show the difference, write it once, and give back the same bytes', async () => {
    const own = '{\n "permissions": {"deny": ["Bash(rm:*)"]}\n}\n'
    write(SETTINGS, own)
    git(repository, 'add', '-A')
    git(repository, '-c', 'user.name=P', '-c', 'user.email=p@example.com', 'commit', '-qm', 'settings')
    const dry = await phaselock('connect', 'claude', '--dry-run')
    expect(dry.stdout).toMatch(/\+ +"mcpServers"/)
    expect(git(repository, 'status', '--porcelain')).toBe('')
    expect((await phaselock('connect', 'claude', '--yes')).stdout).toContain('is connected in')
    const first = read(SETTINGS)
    expect((await phaselock('connect', 'claude', '--yes')).stdout).toContain('connected already')
    expect((await phaselock('connect', 'claude', '--yes', '--native')).status).toBe(0)
    expect(read(SETTINGS)).toContain('phaselock-hook claude-code')
    expect(read(SETTINGS)).not.toContain('this tool is off')
    expect((await phaselock('connect', 'claude', '--yes')).status).toBe(0)
    expect(read(SETTINGS)).toBe(first)
    expect((await phaselock('disconnect', 'claude', '--yes')).status).toBe(0)
    expect(read(SETTINGS)).toBe(own)
    expect(git(repository, 'status', '--porcelain', '--ignored')).toBe('')
  })

  it('[REQ-CONNECT-3] files and folders that were made go again, those of others stay', async () => {
    expect((await phaselock('connect', 'codex', '--yes')).status).toBe(0)
    expect((await phaselock('connect', 'claude', '--yes')).status).toBe(0)
    write('.claude/commands/mine.md', 'mine')
    expect((await phaselock('disconnect', 'codex', '--yes')).status).toBe(0)
    expect((await phaselock('disconnect', 'claude', '--yes')).status).toBe(0)
    expect(existsSync(join(repository, '.codex'))).toBe(false)
    expect(existsSync(join(repository, '.mcp.json'))).toBe(false)
    expect(git(repository, 'status', '--porcelain').trim()).toBe('?? .claude/')
    expect(existsSync(join(repository, SETTINGS))).toBe(false)
  })

  it('[REQ-CONNECT-6] the status says how, since when, and whether somebody changed it', async () => {
    const status = async () => JSON.parse((await phaselock('connect', '--status', '--json')).stdout).connections[0]
    expect(await status()).toMatchObject({ cli: 'claude', binding: null, files: [] })
    await phaselock('connect', 'claude', '--yes', '--native')
    expect(await status()).toMatchObject({
      ...{ binding: 'project', mode: 'native', version: '2.1.325', since: expect.any(String) },
      files: [{ state: 'as_written' }, { state: 'as_written' }],
    })
    write(SETTINGS, read(SETTINGS).replace('{\n', '{\n  "model": "x",\n'))
    rmSync(join(repository, '.mcp.json'))
    expect((await status()).files).toMatchObject([{ state: 'changed' }, { state: 'missing' }])
    write(SETTINGS, '{"model": "x"}\n')
    expect((await status()).files[0]).toMatchObject({ state: 'removed' })
    expect((await phaselock('connect', '--status')).stdout).toContain('the entries of Phaselock are gone')
    expect((await phaselock('disconnect', 'claude', '--yes')).status).toBe(0)
    expect(read(SETTINGS)).toBe('{"model": "x"}\n')
  })

  it('[REQ-CONNECT-3] without its record, as in another clone, what Phaselock wrote is recognised', async () => {
    await phaselock('connect', 'claude', '--yes', '--native')
    rmSync(join(dir, 'home'), { recursive: true })
    expect((await phaselock('disconnect', 'claude', '--yes')).status).toBe(0)
    expect(existsSync(join(repository, '.mcp.json'))).toBe(false)
    expect(read(SETTINGS)).not.toContain('hook')
  })
})

describe('phaselock hook', () => {
  const hook = (input: string, more: Readonly<Record<string, string>> = {}) =>
    spawnSync(SCRIPT, ['hook', 'claude-code'], {
      env: { HOME: join(dir, 'home'), PATH: `${dirname(process.execPath)}:/usr/bin:/bin`, ...more },
      ...{ encoding: 'utf8', input },
    })

  it('[REQ-CONNECT-4] refuses without a session or a server, and never keeps a session from ending', () => {
    const call = { hook_event_name: 'PreToolUse', tool_name: 'Bash', tool_input: { command: 'true' }, cwd: repository }
    const refused = hook(JSON.stringify(call, null, 2))
    expect(refused.status).toBe(2)
    expect(refused.stderr).toContain('no session holds this call')
    expect(refused.stdout).toContain('"permissionDecision":"deny"')
    expect(hook(JSON.stringify(call).slice(0, -5)).status).toBe(2)
    expect(hook(JSON.stringify(call), { PHASELOCK_URL: 'http://127.0.0.1:9', PHASELOCK_TOKEN: 'x' }).status).toBe(2)
    const stop = hook(JSON.stringify({ hook_event_name: 'Stop', cwd: repository }))
    expect(stop.status).toBe(0)
    expect(stop.stdout).not.toContain('"block"')
  })
})

it('[REQ-CONNECT-6] the managed hook refuses in its repository, and lets everything pass elsewhere', () => {
  const place = { workspace: '/w', program: 'phaselock', mode: 'tools-only', isManaged: true } as const
  const [, managed] = CLAUDE_CODE_CONNECTION.plan(place)
  const [entry] = managed?.entries ?? []
  const [group] = (entry?.kind === 'add' ? entry.items : []) as unknown as { hooks: { command: string }[] }[]
  const run = (folder: string) =>
    spawnSync('sh', ['-c', group?.hooks[0]?.command ?? ''], { env: { CLAUDE_PROJECT_DIR: folder } }).status
  expect(['/w', '/w/src', '/w2', '/'].map(run)).toEqual([2, 2, 0, 0])
})
