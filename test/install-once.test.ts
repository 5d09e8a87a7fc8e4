import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { installOnce } from './install-once.js'

function makeFolder(): string {
  const dir = mkdtempSync(join(tmpdir(), 'install-once-'))
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }))
  return dir
}

it('[REQ-TIDY-12] a shared folder is filled once; a process that needs it meanwhile waits', async () => {
  const dir = join(makeFolder(), 'deep/er')
  const install = (making: string) => {
    writeFileSync(join(making, 'a'), 'first')
    return null
  }
  expect(installOnce(dir, install)).toBeNull()
  expect(installOnce(dir, () => 'a second time')).toBeNull()
  expect(readFileSync(join(dir, 'a'), 'utf8')).toBe('first')

  const held = `${dir}-held`
  const holder = spawn('sh', ['-c', `sleep 1; mkdir ${held}; rm ${held}.lock`])
  writeFileSync(`${held}.lock`, String(holder.pid))
  expect(installOnce(held, () => 'nobody waited')).toBeNull()
  await once(holder, 'close')
})

it('[REQ-TIDY-12] what could not be installed is tried again, and a killed process holds nobody up', async () => {
  const root = makeFolder()
  const dir = join(root, 'cache')
  expect(installOnce(dir, () => 'no registry')).toBe('no registry')
  expect(readdirSync(root)).toEqual([])
  const killed = spawn('true')
  await once(killed, 'close')
  writeFileSync(`${dir}.lock`, String(killed.pid))
  expect(installOnce(dir, () => null)).toBeNull()
  expect(existsSync(dir)).toBe(true)
  expect(readdirSync(root)).toEqual(['cache'])
})
