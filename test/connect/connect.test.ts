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
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
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

function phaselock(...words: readonly string[]) {
  return spawnSync(SCRIPT, words, {
    cwd: repository,
    env: { HOME: join(dir, 'home'), PATH: `${join(dir, 'bin')}:${dirname(SCRIPT)}:/usr/bin:/bin` },
    encoding: 'utf8',
  })
}

const SETTINGS = '.claude/settings.json'
const read = (path: string): string => readFileSync(join(repository, path), 'utf8')
function write(path: string, text: string): void {
  mkdirSync(dirname(join(repository, path)), { recursive: true })
  writeFileSync(join(repository, path), text)
}

function refuses(words: readonly string[], code: number, text: RegExp): void {
  const before = git(repository, 'status', '--porcelain', '--ignored')
  const { status, stderr } = phaselock(...words)
  expect({ status, stderr }).toEqual({ status: code, stderr: expect.stringMatching(text) })
  expect(stderr.trim().split('\n').length).toBeLessThanOrEqual(3)
  expect(git(repository, 'status', '--porcelain', '--ignored')).toBe(before)
}

describe('connect refuses', () => {
  it('[REQ-CONNECT-2] an unknown or missing agent CLI, and one that is too old', () => {
    refuses(['connect', 'emacs', '--yes'], 2, /cannot be connected. Name one of: claude, codex, gemini, opencode/)
    refuses(['connect', '--yes'], 2, /Name an agent CLI/)
    refuses(['connect', 'gemini', '--yes'], 1, /not installed/)
    install('claude', '2.1.294')
    refuses(['connect', 'claude', '--yes'], 1, /agent_cli_too_old/)
    refuses(['connect', 'claude', '--yes', '--tools-only', '--native'], 2, /Choose one/)
    refuses(['connect', 'codex', '--yes', '--native'], 1, /cannot hold the binding --native/)
    refuses(['disconnect', 'claude', '--yes'], 1, /is not connected/)
  })

  it('[REQ-CONNECT-2] to write without being asked, and into files that are broken, read-only, links or huge', () => {
    refuses(['connect', 'claude'], 2, /nothing was written/)
    for (const [text, said] of [
      ['{"hooks": ', /settings.json is not valid JSON \(line 1/],
      ['[]', /is not a JSON object/],
      ['{ // note\n}', /comments or trailing commas/],
      ['{"hooks": []}', /has no object at hooks/],
      [`{"a": "${'x'.repeat(1_100_000)}"}`, /is larger than/],
    ] as const) {
      write(SETTINGS, text)
      refuses(['connect', 'claude', '--yes'], 1, said)
      expect(read(SETTINGS)).toBe(text)
    }
    write(SETTINGS, '{}')
    chmodSync(join(repository, SETTINGS), 0o444)
    refuses(['connect', 'claude', '--yes'], 1, /is read-only. Nothing was written/)
    rmSync(join(repository, '.claude'), { recursive: true })
    mkdirSync(join(dir, 'elsewhere'))
    symlinkSync(join(dir, 'elsewhere'), join(repository, '.claude'))
    refuses(['connect', 'claude', '--yes'], 1, /symbolic link out of the repository/)
    rmSync(join(repository, '.claude'))
    write('other.json', '{}')
    mkdirSync(join(repository, '.claude'))
    symlinkSync('../other.json', join(repository, SETTINGS))
    refuses(['connect', 'claude', '--yes'], 1, /is a symbolic link/)
    expect(read('other.json')).toBe('{}')
  })
})

describe('connect and disconnect', () => {
  it('[REQ-CONNECT-3] show the difference, write it once, and give back the same bytes', () => {
    const own = '{\n "permissions": {"deny": ["Bash(rm:*)"]}\n}\n'
    write(SETTINGS, own)
    git(repository, 'add', '-A')
    git(repository, '-c', 'user.name=P', '-c', 'user.email=p@example.com', 'commit', '-qm', 'settings')
    const dry = phaselock('connect', 'claude', '--dry-run')
    expect(dry.stdout).toMatch(/\+ +"mcpServers"/)
    expect(git(repository, 'status', '--porcelain')).toBe('')
    expect(phaselock('connect', 'claude', '--yes').stdout).toContain('is connected in')
    const first = read(SETTINGS)
    expect(phaselock('connect', 'claude', '--yes').stdout).toContain('connected already')
    expect(phaselock('connect', 'claude', '--yes', '--native').status).toBe(0)
    expect(read(SETTINGS)).toContain('phaselock hook claude-code')
    expect(read(SETTINGS)).not.toContain('this tool is off')
    expect(phaselock('connect', 'claude', '--yes').status).toBe(0)
    expect(read(SETTINGS)).toBe(first)
    expect(phaselock('disconnect', 'claude', '--yes').status).toBe(0)
    expect(read(SETTINGS)).toBe(own)
    expect(git(repository, 'status', '--porcelain', '--ignored')).toBe('')
  })

  it('[REQ-CONNECT-3] files and folders that were made go again, those of others stay', () => {
    expect(phaselock('connect', 'codex', '--yes').status).toBe(0)
    expect(phaselock('connect', 'claude', '--yes').status).toBe(0)
    write('.claude/commands/mine.md', 'mine')
    expect(phaselock('disconnect', 'codex', '--yes').status).toBe(0)
    expect(phaselock('disconnect', 'claude', '--yes').status).toBe(0)
    expect(existsSync(join(repository, '.codex'))).toBe(false)
    expect(existsSync(join(repository, '.mcp.json'))).toBe(false)
    expect(git(repository, 'status', '--porcelain').trim()).toBe('?? .claude/')
    expect(existsSync(join(repository, SETTINGS))).toBe(false)
  })

  it('[REQ-CONNECT-6] the status says how, since when, and whether somebody changed it', () => {
    const status = () => JSON.parse(phaselock('connect', '--status', '--json').stdout).connections[0]
    expect(status()).toMatchObject({ cli: 'claude', binding: null, files: [] })
    phaselock('connect', 'claude', '--yes', '--native')
    expect(status()).toMatchObject({
      ...{ binding: 'project', mode: 'native', version: '2.1.325', since: expect.any(String) },
      files: [{ state: 'as_written' }, { state: 'as_written' }],
    })
    write(SETTINGS, read(SETTINGS).replace('{\n', '{\n  "model": "x",\n'))
    rmSync(join(repository, '.mcp.json'))
    expect(status().files).toMatchObject([{ state: 'changed' }, { state: 'missing' }])
    write(SETTINGS, '{"model": "x"}\n')
    expect(status().files[0]).toMatchObject({ state: 'removed' })
    expect(phaselock('connect', '--status').stdout).toContain('the entries of Phaselock are gone')
    expect(phaselock('disconnect', 'claude', '--yes').status).toBe(0)
    expect(read(SETTINGS)).toBe('{"model": "x"}\n')
  })

  it('[REQ-CONNECT-3] without its record, as in another clone, what Phaselock wrote is recognised', () => {
    phaselock('connect', 'claude', '--yes', '--native')
    rmSync(join(dir, 'home'), { recursive: true })
    expect(phaselock('disconnect', 'claude', '--yes').status).toBe(0)
    expect(existsSync(join(repository, '.mcp.json'))).toBe(false)
    expect(read(SETTINGS)).not.toContain('hook')
  })
})

describe('phaselock hook', () => {
  const hook = (input: string, ...words: readonly string[]) =>
    spawnSync(SCRIPT, ['hook', 'claude-code', ...words], {
      cwd: repository,
      env: { HOME: join(dir, 'home'), PATH: '/usr/bin:/bin' },
      encoding: 'utf8',
      input,
    })

  it('[REQ-CONNECT-4] refuses without a session, and what it cannot read', () => {
    const call = { hook_event_name: 'PreToolUse', tool_name: 'Bash', tool_input: { command: 'true' }, cwd: repository }
    for (const [input, said] of [
      [JSON.stringify(call, null, 2), /no session holds this call/],
      [JSON.stringify(call).slice(0, -5), /not a JSON object/],
      ['', /not a JSON object/],
      ['[1]', /not a JSON object/],
      [`{"x": "${'y'.repeat(9 * 1024 * 1024)}"}`, /larger than/],
    ] as const) {
      const { status, stdout, stderr } = hook(input)
      expect({ status, stdout, stderr }).toEqual({ status: 2, stdout: '', stderr: expect.stringMatching(said) })
    }
    expect(spawnSync(SCRIPT, ['hook', 'emacs'], { input: '{}', encoding: 'utf8' }).status).toBe(2)
  })

  it('[REQ-CONNECT-4] never keeps a session from ending', () => {
    const { status, stdout } = hook(JSON.stringify({ hook_event_name: 'Stop' }))
    expect({ status, said: JSON.parse(stdout) }).toMatchObject({
      status: 0,
      said: { systemMessage: expect.stringContaining('no session') },
    })
  })
})
