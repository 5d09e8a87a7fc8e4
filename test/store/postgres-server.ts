import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { findFreePort } from '../find-free-port.js'

const NOBODY = 65_534

/** A user that has to give its password; the test makes it. */
export const WITH_PASSWORD = 'careful'

/** A PostgreSQL server of the tests' own. */
export interface PostgresServer {
  /** An empty database; gives its address. */
  createDatabase(): Promise<string>
  /** Runs SQL as the administrator of a database. */
  run(url: string, sql: string, values?: readonly unknown[]): Promise<pg.QueryResultRow[]>
  /** Stops the server as a crash would, and starts it again. */
  crash(): void
  /** The same without holding up this process. */
  restart(): Promise<void>
  stopNow(): void
  start(): void
  /** Stops the server and removes its data. */
  remove(): void
}

/** The folder of the server's programs; null: PostgreSQL is not installed here. */
export function findPostgres(): string | null {
  const root = '/usr/lib/postgresql'
  for (const version of existsSync(root) ? readdirSync(root) : []) {
    const bin = join(root, version, 'bin')
    if (spawnSync(join(bin, 'initdb'), ['--version']).status === 0) return bin
  }
  return null
}

/** Starts a server on a free port of loopback. It refuses to run as root, so root starts it as nobody. */
export async function startPostgres(bin: string): Promise<PostgresServer> {
  const dir = mkdtempSync(join(tmpdir(), 'postgres-'))
  const data = join(dir, 'data')
  mkdirSync(data, { mode: 0o700 })
  chmodSync(dir, 0o755)
  const isRoot = process.getuid?.() === 0
  if (isRoot) chownSync(data, NOBODY, NOBODY)
  const as = isRoot ? ['setpriv', `--reuid=${NOBODY}`, `--regid=${NOBODY}`, '--clear-groups'] : []
  const run = (program: string, words: readonly string[]) => {
    const [first = '', ...rest] = [...as, join(bin, program), ...words]
    execFileSync(first, rest, { cwd: '/', stdio: 'ignore' })
  }
  run('initdb', ['-D', data, '-U', 'postgres', '--auth=trust', '-N', '-E', 'UTF8', '--locale=C'])
  // One user has a password, so that a wrong one can be tried.
  const rules = join(data, 'pg_hba.conf')
  writeFileSync(rules, `host all ${WITH_PASSWORD} 127.0.0.1/32 scram-sha-256\n${readFileSync(rules, 'utf8')}`)
  const port = await findFreePort()
  const options = `-p ${port} -c listen_addresses=127.0.0.1 -k ${data} -c max_connections=200`
  const starting = ['-D', data, '-l', join(data, 'log'), '-o', options, '-w', '-t', '300', 'start']
  const stopping = ['-D', data, '-m', 'immediate', '-w', 'stop']
  const start = () => run('pg_ctl', starting)
  const stopNow = () => run('pg_ctl', stopping)
  const runMeanwhile = (words: readonly string[]) => {
    const [first = '', ...rest] = [...as, join(bin, 'pg_ctl'), ...words]
    const child = spawn(first, rest, { cwd: '/', stdio: 'ignore' })
    return once(child, 'exit')
  }
  start()
  const address = (name: string) => `postgres://postgres@127.0.0.1:${port}/${name}`
  let databases = 0
  const ask = async (url: string, sql: string, values: readonly unknown[] = []) => {
    const client = new pg.Client({ connectionString: url })
    await client.connect()
    try {
      return (await client.query(sql, [...values])).rows
    } finally {
      await client.end()
    }
  }
  return {
    async createDatabase() {
      databases += 1
      await ask(address('postgres'), `CREATE DATABASE ledger${databases}`)
      return address(`ledger${databases}`)
    },
    run: ask,
    stopNow,
    start,
    crash() {
      stopNow()
      start()
    },
    async restart() {
      await runMeanwhile(stopping)
      await runMeanwhile(starting)
    },
    remove() {
      spawnSync(as[0] ?? join(bin, 'pg_ctl'), [
        ...(as.length > 0 ? [...as.slice(1), join(bin, 'pg_ctl')] : []),
        ...['-D', data, '-m', 'immediate', '-w', 'stop'],
      ])
      rmSync(dir, { recursive: true, force: true })
    },
  }
}
