import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { findProgram } from '../../confinement/probes.js'
import { buildHostView } from '../../confinement/view/host-view.js'
import type { Folder } from './project.js'

/** The package manager of a Node.js project. */
export interface NodeManager {
  readonly name: string
  /** Runs a program of an installed package. */
  readonly exec: string
  readonly install: string
  /** Runs the tests of all workspaces. */
  readonly workspaces: string
  /** The file that identifies it. */
  readonly sign: string
  /** Set if commands do not see it, so that npm runs scripts and programs in its place. */
  readonly isReplaced?: true
}

const NPM = {
  ...{ name: 'npm', exec: 'npx', install: 'npm ci' },
  workspaces: 'npm test --workspaces --if-present',
}
const PNPM = { name: 'pnpm', exec: 'pnpm exec', install: 'pnpm install --frozen-lockfile', workspaces: 'pnpm -r test' }
const YARN = { name: 'yarn', exec: 'yarn run', install: 'yarn install', workspaces: 'yarn workspaces run test' }
const BUN = { name: 'bun run', exec: 'bunx', install: 'bun install', workspaces: "bun run --filter '*' test" }

const LOCKS = [
  ['pnpm-lock.yaml', PNPM],
  ['yarn.lock', YARN],
  ['bun.lock', BUN],
  ['bun.lockb', BUN],
  ['package-lock.json', NPM],
  ['npm-shrinkwrap.json', NPM],
] as const

/** By the lock file, otherwise by the field `packageManager`. */
export function findNodeManager(folder: Folder, field: string): NodeManager {
  const manager = readNodeManager(folder, field)
  const [program = ''] = manager.name.split(' ')
  if (program === 'npm' || findProgram(program) === null || isSeen(program) || !isSeen('npm')) return manager
  const sign = `${manager.sign} with npm, because commands do not see ${program}`
  return { ...NPM, install: manager.install, sign, isReplaced: true }
}

function isSeen(program: string): boolean {
  return buildHostView()
    .path.split(delimiter)
    .some((folder) => existsSync(join(folder, program)))
}

function readNodeManager(folder: Folder, field: string): NodeManager {
  const [lock, manager] = LOCKS.find(([name]) => folder.has(name)) ?? [null, null]
  if (lock !== null) return { ...manager, sign: lock, ...(manager === YARN ? readYarn(folder) : {}) }
  const [name = ''] = field.split('@')
  const named = [PNPM, YARN, BUN].find((one) => one.name.split(' ')[0] === name)
  if (named !== undefined) return { ...named, sign: `packageManager ${field}` }
  return { ...NPM, install: 'npm install', sign: 'no lock file' }
}

function readYarn(folder: Folder): Partial<NodeManager> {
  return folder.has('.yarnrc.yml') ? { workspaces: 'yarn workspaces foreach -A run test' } : {}
}
