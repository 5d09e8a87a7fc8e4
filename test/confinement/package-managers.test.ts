import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Confinement } from '../../src/confinement/confinement.js'
import { openConfinement } from '../../src/confinement/open-confinement.js'
import { runCommand } from '../../src/confinement/run-command.js'
import { mentionsInstall, saysNoNetwork } from '../../src/core/dependencies/package-managers.js'

// Without settings for it, npm tries for 70 s. The rest is room for a machine that is busy.
const AT_ONCE_MS_MAX = 20_000
const FILES = {
  'package.json': '{"name": "shop", "version": "1.0.0"}',
  'package-lock.json':
    '{"name": "shop", "version": "1.0.0", "lockfileVersion": 3, "packages": {"": {"name": "shop", "version": "1.0.0"}}}',
  'go.mod': 'module shop\n\ngo 1.20\n',
  'Cargo.toml': '[package]\nname = "shop"\nversion = "0.1.0"\nedition = "2021"\n',
}

describe('package managers in the sandbox without network', () => {
  let dir: string
  let confinement: Confinement

  beforeAll(async () => {
    dir = mkdtempSync(join(tmpdir(), 'phaselock-offline-'))
    mkdirSync(join(dir, 'tree/src'), { recursive: true })
    mkdirSync(join(dir, 'state'))
    for (const [path, text] of Object.entries(FILES)) writeFileSync(join(dir, 'tree', path), text)
    writeFileSync(join(dir, 'tree/src/lib.rs'), '')
    confinement = await openConfinement({ stateDir: join(dir, 'state'), only: null })
  })
  afterAll(async () => {
    await confinement?.close()
    rmSync(dir, { recursive: true, force: true })
  })

  const run = (line: string) =>
    runCommand(confinement, {
      ...{ tree: join(dir, 'tree'), argv: ['bash', '-c', line], cwd: '.', env: {}, network: false },
      ...{ writes: 'discard', git: 'read', hidden: [], signal: new AbortController().signal, timeoutMs: 60_000 },
    })

  for (const line of [
    'npm install left-pad',
    'python3 -m pip install phaselock-unknown-package',
    'go get example.org/text',
    'cargo add phaselock-unknown-crate',
  ])
    it(`[REQ-INSTALL-5] ${line} fails at once and says that it had no network`, async (test) => {
      const [program = ''] = line.split(' ')
      if (spawnSync(program, ['--version']).error !== undefined) test.skip(`${program} is not installed here`)
      const ended = await run(line)
      expect(ended.exitCode).not.toBe(0)
      expect(ended.durationMs).toBeLessThan(AT_ONCE_MS_MAX)
      expect(mentionsInstall(line)).toBe(true)
      expect(saysNoNetwork(`${ended.stdout}${ended.stderr}`), ended.stderr).toBe(true)
    })

  it('[REQ-INSTALL-5] what needs no network works', async () => {
    const ended = await run('npm ci && npm install && node -e "console.log(process.env.npm_config_offline)"')
    expect(ended, ended.stderr).toMatchObject({ exitCode: 0 })
  })
})
