import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { Tmux } from '../../src/spawn/tmux.js'

const MODE = 0o777

describe('the windows of a server whose state directory has a long name', () => {
  let dir: string
  let tmux: Tmux

  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), 'phaselock-window-'))
    tmux = new Tmux(join(dir, 'x'.repeat(120)), process.env.PATH ?? '')
  })
  afterEach(async () => {
    await tmux.close('ada')
    rmSync(dirname(tmux.socket), { recursive: true, force: true })
    rmSync(dir, { recursive: true, force: true })
  })

  it('[REQ-SPAWNATTACK-8] are not opened where others could have put a tmux of their own', async () => {
    mkdirSync(dirname(tmux.socket))
    chmodSync(dirname(tmux.socket), MODE)
    await expect(tmux.open('ada', '/dev/null')).rejects.toThrow('not a folder of this account alone')
    expect(await tmux.captureScreen('ada')).toBeNull()
    expect(existsSync(tmux.socket)).toBe(false)
  })

  it('[REQ-SPAWNATTACK-8] are in a folder of the account alone', async (test) => {
    if (!(await tmux.isThere())) return test.skip('tmux is not there')
    const log = join(dir, 'log')
    writeFileSync(log, 'hello\n')
    await tmux.open('ada', log)
    expect(statSync(dirname(tmux.socket)).mode & MODE).toBe(0o700)
    expect(await tmux.captureScreen('ada')).not.toBeNull()
  })
})
