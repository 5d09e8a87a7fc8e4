import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { EXIT, Stop } from '../exit.js'
import { findGivenStateDir, getDefaultStateDir, listFoldersUpwards } from '../places.js'
import { findProgramName } from '../program-name.js'
import type { BindingMode, ConnectKind } from './connect-kind.js'

export interface ConnectOptions {
  readonly managed?: boolean
  readonly toolsOnly?: boolean
  readonly native?: boolean
  readonly yes?: boolean
  readonly dryRun?: boolean
  readonly json?: boolean
  readonly status?: boolean
  readonly workspace?: string
  readonly stateDir?: string
}

/** The repository that is meant: the nearest folder with `.git`, else this one. */
export function findWorkspace(options: ConnectOptions): string {
  if (options.workspace !== undefined) return resolve(options.workspace)
  return listFoldersUpwards(process.cwd()).find((folder) => existsSync(join(folder, '.git'))) ?? process.cwd()
}

export function findConnectStateDir(options: ConnectOptions, workspace: string): string {
  return findGivenStateDir(options.stateDir) ?? getDefaultStateDir(workspace)
}

export function chooseMode(kind: ConnectKind, options: ConnectOptions): BindingMode {
  if (options.toolsOnly === true && options.native === true)
    throw new Stop(EXIT.usage, 'Choose one of --tools-only and --native.')
  const mode = options.native === true ? 'native' : 'tools-only'
  if (kind.modes.includes(mode)) return mode
  throw new Stop(
    EXIT.refused,
    `The configuration of ${kind.title} cannot hold the binding --${mode}. It can hold: ${kind.modes.map((one) => `--${one}`).join(', ')}.`,
  )
}

/** By name where the program is on the PATH, so that the entry works on every machine of the team. */
export function chooseProgram(): { readonly program: string; readonly isPortable: boolean } {
  const program = findProgramName('/')
  return { program, isPortable: program === 'phaselock' }
}
