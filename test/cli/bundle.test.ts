import { spawnSync } from 'node:child_process'
import {
  closeSync,
  cpSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it, onTestFinished } from 'vitest'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

it('[REQ-NEWEST-8] a build replaces each file of the program at once, and the one that says that it is built last', () => {
  const place = mkdtempSync(join(tmpdir(), 'phaselock-bundle-'))
  onTestFinished(() => rmSync(place, { recursive: true, force: true }))
  for (const part of ['package.json', 'LICENSE', 'scripts', 'contracts', 'dist', 'sdk', 'tsconfig.json'])
    cpSync(join(ROOT, part), join(place, part), { recursive: true })
  symlinkSync(join(ROOT, 'node_modules'), join(place, 'node_modules'))
  const program = join(place, 'dist/program')
  const opened = readdirSync(program).map((name) => {
    const path = join(program, name)
    return { path, text: readFileSync(path, 'utf8'), fd: openSync(path, 'r') }
  })
  const built = spawnSync(process.execPath, ['scripts/bundle.mjs'], { cwd: place, encoding: 'utf8' })
  expect(built.status, built.stderr).toBe(0)
  // Whoever has begun to read goes on reading what there was.
  const torn = opened.filter(({ text, fd }) => readFileSync(fd, 'utf8') !== text)
  for (const { fd } of opened) closeSync(fd)
  expect(torn.map(({ path }) => path)).toEqual([])
  const names = readdirSync(program)
  expect(names.filter((name) => !name.endsWith('.js'))).toEqual([])
  const whenOf = (name: string) => statSync(join(program, name)).mtimeMs
  expect(whenOf('main.js')).toBe(Math.max(...names.map(whenOf)))
  const ran = spawnSync(process.execPath, [
    '-e',
    `import(${JSON.stringify(join(program, 'main.js'))}).then((one) => one.main(['--version']))`,
  ])
  expect(String(ran.stdout)).toMatch(/^\d+\.\d+\.\d+\n$/)
})
