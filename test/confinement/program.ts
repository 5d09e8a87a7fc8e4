import { spawnSync } from 'node:child_process'
import { chmodSync, copyFileSync, cpSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { built, ROOT } from '../cli/program.js'
import { type Account, belongingTo } from './account.js'

const COPIED = ['bin', 'dist', 'runtime/sandbox', 'contracts', 'schemas', 'package.json']

/** The program, copied once to where every account can read it: a checkout may lie in a home directory. */
export interface Program {
  readonly node: string
  readonly script: string
  remove(): void
}

export async function copyProgram(accounts: readonly Account[]): Promise<Program> {
  await built()
  const dir = mkdtempSync(join(tmpdir(), 'phaselock-program-'))
  chmodSync(dir, 0o755)
  for (const name of COPIED) cpSync(join(ROOT, name), join(dir, name), { recursive: true })
  const canAll = (program: string, ...args: readonly string[]): boolean =>
    accounts.every((account) => spawnSync(program, args, { ...belongingTo(account), cwd: '/' }).status === 0)
  const modules = join(ROOT, 'node_modules')
  if (canAll('test', '-r', join(modules, 'fastify', 'package.json'))) symlinkSync(modules, join(dir, 'node_modules'))
  else cpSync(modules, join(dir, 'node_modules'), { recursive: true })
  const ownNode = join(dir, 'node')
  const node = canAll(process.execPath, '--version') ? process.execPath : ownNode
  if (node === ownNode) copyFileSync(process.execPath, ownNode)
  spawnSync('chmod', ['-R', 'a+rX', dir])
  return {
    node,
    script: join(dir, 'bin', 'phaselock'),
    remove: () => rmSync(dir, { recursive: true, force: true }),
  }
}
