import { existsSync, linkSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { runFile } from './run-file.js'

const STASH_ID = /^st-[0-9a-f]{12}$/

/** The active run is stashed with its task, so that another one can be started meanwhile. */
export function putRunAside(stateDir: string, stashId: string): void {
  if (STASH_ID.test(stashId)) renameSync(runFile(stateDir), getAsideFile(stateDir, stashId))
}

/** Whether the run of a stash can become active: it has none, or no other is active. */
export function isRunFree(stateDir: string, stashId: string): boolean {
  const hasRun = STASH_ID.test(stashId) && existsSync(getAsideFile(stateDir, stashId))
  return !hasRun || !existsSync(runFile(stateDir))
}

export function bringRunBack(stateDir: string, stashId: string): void {
  if (!STASH_ID.test(stashId) || !existsSync(getAsideFile(stateDir, stashId))) return
  try {
    // Linking fails if the name is taken; a rename would replace another run.
    linkSync(getAsideFile(stateDir, stashId), runFile(stateDir))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    return
  }
  dropRun(stateDir, stashId)
}

export function dropRun(stateDir: string, stashId: string): void {
  if (STASH_ID.test(stashId)) rmSync(getAsideFile(stateDir, stashId), { force: true })
}

function getAsideFile(stateDir: string, stashId: string): string {
  return join(stateDir, `run-${stashId}.json`)
}
