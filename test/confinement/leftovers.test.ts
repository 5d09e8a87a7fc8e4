import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { openConfinement } from '../../src/confinement/open-confinement.js'

// The largest pid that Linux hands out is below this.
const NOBODY = 4_194_999

it('[REQ-WALL-14] the next start removes the arguments of commands of a killed server and keeps those of a living one', async () => {
  const stateDir = mkdtempSync(join(tmpdir(), 'phaselock-left-'))
  const [dead, alive] = [`start-${NOBODY}-1`, `start-${process.ppid}-1`].map((name) => join(stateDir, name))
  for (const file of [dead, alive]) writeFileSync(file ?? '', "export TOKEN='secret'\n", { mode: 0o600 })
  const wall = await openConfinement({ stateDir, only: null })
  try {
    expect(wall.missing).toEqual([])
    expect(existsSync(dead ?? '')).toBe(false)
    expect(existsSync(alive ?? '')).toBe(true)
  } finally {
    await wall.close()
    rmSync(stateDir, { recursive: true, force: true })
  }
})
