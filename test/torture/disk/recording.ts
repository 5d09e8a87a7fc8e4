import { spawnSync } from 'node:child_process'
import { appendFileSync, existsSync, mkdtempSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { removedAtExit } from '../../leaving.js'

/** One thing that happened to the files of the directory, in the order in which it happened. */
export type Step =
  | { readonly kind: 'create'; readonly inode: bigint; readonly path: string }
  | { readonly kind: 'open_directory'; readonly inode: bigint; readonly path: string }
  | { readonly kind: 'write'; readonly inode: bigint; readonly offset: number; readonly bytes: Buffer }
  | { readonly kind: 'truncate'; readonly inode: bigint; readonly size: number }
  | { readonly kind: 'sync_begin'; readonly inode: bigint; readonly thread: bigint }
  | { readonly kind: 'synced'; readonly inode: bigint; readonly thread: bigint }
  | { readonly kind: 'sync_failed'; readonly inode: bigint; readonly thread: bigint }
  | { readonly kind: 'rename'; readonly from: string; readonly to: string }
  | { readonly kind: 'link'; readonly from: string; readonly to: string }
  | { readonly kind: 'symlink'; readonly text: string; readonly path: string }
  | { readonly kind: 'unlink'; readonly path: string }
  | { readonly kind: 'mkdir'; readonly path: string }
  /** Something that a client was told, written into the log by the client. */
  | { readonly kind: 'told'; readonly text: string }

const HEAD_BYTES = 32
const SOURCE = fileURLToPath(new URL('recorder.c', import.meta.url))

/** Compiles the library once per test file; null with the reason when this machine cannot. */
export function buildRecorder(): { readonly library: string } | { readonly reason: string } {
  if (process.platform !== 'linux') return { reason: 'the recorder is an LD_PRELOAD library for Linux' }
  const library = join(removedAtExit(mkdtempSync(join(tmpdir(), 'phaselock-recorder-'))), 'recorder.so')
  const done = spawnSync(
    'cc',
    ['-shared', '-fPIC', '-O1', '-Wall', '-Werror', '-o', library, SOURCE, '-ldl', '-lpthread'],
    {
      encoding: 'utf8',
    },
  )
  if (done.error !== undefined) return { reason: `there is no C compiler (${done.error.message})` }
  if (done.status !== 0 || !existsSync(library)) throw new Error(`the recorder does not compile:\n${done.stderr}`)
  return { library }
}

/** The environment of a program that is to be recorded, made to fail, or both. */
export function underRecorder(options: {
  readonly library: string
  readonly dir: string
  readonly log?: string
  readonly faults?: string
}): Record<string, string> {
  return {
    LD_PRELOAD: options.library,
    TORTURE_DIR: options.dir,
    ...(options.log === undefined ? {} : { TORTURE_LOG: options.log }),
    ...(options.faults === undefined ? {} : { TORTURE_FAULTS: options.faults }),
  }
}

/** Writes into the log that a client was told something: everything durable by then stands before it. */
export function tell(log: string, text: string): void {
  const bytes = Buffer.from(text)
  const head = Buffer.alloc(HEAD_BYTES)
  head.writeUInt32LE(HEAD_BYTES - 4 + bytes.length, 0)
  head.write('X', 4)
  appendFileSync(log, Buffer.concat([head, bytes]))
}

export function readRecording(log: string): readonly Step[] {
  const bytes = readFileSync(log)
  const steps: Step[] = []
  for (let at = 0; at + HEAD_BYTES <= bytes.length; ) {
    const end = at + 4 + bytes.readUInt32LE(at)
    // A killed program may leave its last record incomplete.
    if (end > bytes.length) break
    steps.push(stepOf(bytes.subarray(at, at + HEAD_BYTES), bytes.subarray(at + HEAD_BYTES, end)))
    at = end
  }
  return steps
}

function stepOf(head: Buffer, rest: Buffer): Step {
  const kind = String.fromCharCode(head.readUInt8(4))
  const inode = head.readBigUInt64LE(8)
  const number = Number(head.readBigUInt64LE(16))
  const thread = head.readBigUInt64LE(24)
  switch (kind) {
    case 'C':
      return { kind: 'create', inode, path: rest.toString() }
    case 'O':
      return { kind: 'open_directory', inode, path: rest.toString() }
    case 'W':
      return { kind: 'write', inode, offset: number, bytes: rest }
    case 'T':
      return { kind: 'truncate', inode, size: number }
    case 'B':
      return { kind: 'sync_begin', inode, thread }
    case 'S':
      return { kind: 'synced', inode, thread }
    case 'F':
      return { kind: 'sync_failed', inode, thread }
    case 'R': {
      const [from = '', to = ''] = rest.toString().split('\0')
      return { kind: 'rename', from, to }
    }
    case 'L': {
      const [from = '', to = ''] = rest.toString().split('\0')
      return { kind: 'link', from, to }
    }
    case 'Y': {
      const [text = '', path = ''] = rest.toString().split('\0')
      return { kind: 'symlink', text, path }
    }
    case 'U':
      return { kind: 'unlink', path: rest.toString() }
    case 'M':
      return { kind: 'mkdir', path: rest.toString() }
    case 'X':
      return { kind: 'told', text: rest.toString() }
    default:
      throw new Error(`the log has a record of the unknown kind ${JSON.stringify(kind)}`)
  }
}
