import { randomBytes } from 'node:crypto'
import { chmodSync, lstatSync, mkdirSync, readdirSync, rmdirSync, rmSync } from 'node:fs'
import type { Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sha256Hex } from '../base/sha256.js'

// The kernel's maximum length of a socket address, without the terminating byte.
const SOCKET_PATH_BYTES_MAX = 107
const NAME_BYTES = 8
const HASH_CHARS = 16
const PRIVATE_FOLDER = 0o700
const PRIVATE_SOCKET = 0o600
const OTHERS = 0o077

/**
 * The folder for a server's sockets, empty and private. The caller holds the state directory's lock: existing entries
 * belong to a killed server, and are removed.
 */
export function openSocketDir(stateDir: string): string {
  const dir = getDoorsFolder(stateDir)
  makePrivateFolder(dir)
  for (const name of readdirSync(dir)) rmSync(join(dir, name), { recursive: true, force: true })
  return dir
}

/** Removes the folder when the server ends, unless a socket is still open in it. */
export function removeSocketDir(dir: string): void {
  try {
    rmdirSync(dir)
  } catch {
    // The next server of this state directory empties it.
  }
}

/**
 * Creates the folder if it is missing. Throws when others can access it: in a world-writable folder, somebody else may
 * have made it.
 */
export function makePrivateFolder(dir: string): void {
  mkdirSync(dir, { recursive: true, mode: PRIVATE_FOLDER })
  const stats = lstatSync(dir)
  if (!stats.isDirectory() || stats.uid !== process.getuid?.() || (stats.mode & OTHERS) !== 0)
    throw new Error(`${dir} is not a folder of this account alone`)
}

/** A path in the folder for another socket. */
export function makeSocketPath(dir: string): string {
  return join(dir, randomBytes(NAME_BYTES).toString('hex'))
}

/** Listens there, for the server's account alone. */
export function listenAt(server: Server, path: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(path, () => {
      server.off('error', reject)
      // Nobody can connect before this: the folder is private.
      chmodSync(path, PRIVATE_SOCKET)
      resolve()
    })
  })
}

function getDoorsFolder(stateDir: string): string {
  const own = join(stateDir, 'doors')
  if (Buffer.byteLength(makeSocketPath(own)) <= SOCKET_PATH_BYTES_MAX) return own
  const hash = sha256Hex(stateDir).slice(0, HASH_CHARS)
  const short = [tmpdir(), '/tmp'].map((folder) => join(folder, `phaselock-doors-${hash}`))
  const place = short.find((dir) => Buffer.byteLength(makeSocketPath(dir)) <= SOCKET_PATH_BYTES_MAX)
  if (place === undefined) throw new Error('there is no place for sockets with a path that is short enough')
  return place
}
