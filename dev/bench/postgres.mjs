// The PostgreSQL server that the tests bring up, for measurements: compiled here, because Node.js 20 reads no TypeScript.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { build } from 'rolldown'
import { cpuSeconds } from './measure.mjs'
import { ROOT } from './servers.mjs'

/** A server with its data in the temporary folder; null where PostgreSQL is not installed. */
export async function startOwnPostgres() {
  const file = join(ROOT, 'node_modules/.cache/phaselock-bench/postgres-server.mjs')
  const entry = join(ROOT, 'test/store/postgres-server.ts')
  await build({ input: entry, platform: 'node', external: ['pg'], output: { file, format: 'esm' }, logLevel: 'silent' })
  const { findPostgres, startPostgres } = await import(file)
  const bin = findPostgres()
  return bin === null ? null : startPostgres(bin)
}

/** Processor seconds of all processes of PostgreSQL servers so far. */
export function postgresCpuSeconds() {
  let seconds = 0
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    try {
      if (readFileSync(`/proc/${pid}/comm`, 'utf8').trim() === 'postgres') seconds += cpuSeconds(pid)
    } catch (error) {
      // The process has ended.
      if (error.code !== 'ENOENT' && error.code !== 'ESRCH') throw error
    }
  }
  return seconds
}
