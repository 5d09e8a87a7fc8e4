import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import type { Confinement, Job } from '../confinement.js'
import { runCommand } from '../run-command.js'

const ARCHIVE = '.phaselock-go-build-cache.tar.gz'
const UNPACKED_BYTES_MAX = 256 * 1024 * 1024
const COMPILE_MS_MAX = 10 * 60_000
/** File names in Go's build cache: actions and their outputs. */
const ENTRY = /^(?:\.\/)?([0-9a-f]{2}\/[0-9a-f]{64}-[ad])$/
const BLOCK = 512

/** Where and how a project's packages are compiled for its tests. */
export interface CompilePlace {
  readonly confinement: Pick<Confinement, 'start'>
  /** A tree that no agent has changed. */
  readonly job: Pick<Job, 'tree' | 'hidden' | 'signal' | 'composition'>
  /** Folders of earlier build caches. */
  readonly seeds: readonly string[]
  /** The build cache of the run. */
  readonly cache: string
  readonly env: Readonly<Record<string, string>>
  /** How the tests are run. */
  readonly command: string
  /** Nothing is kept of a compilation that fails. */
  readonly mustCompile?: boolean
}

/**
 * Compiles the packages of a project, their tests and their imports, and returns the files of Go's build cache. No
 * project code is run: `true` runs in place of the test programs. Null if that fails or the cache is too large.
 */
export async function compileForTests(place: CompilePlace): Promise<ReadonlyMap<string, Buffer> | null> {
  const seeding = place.seeds.map((_, at) => `cp -rs "$${at + 1}/." "$GOCACHE" 2>/dev/null`)
  const lines = [
    'mkdir -p "$GOCACHE"',
    ...seeding,
    // Compile errors of a project are ignored here: the runs themselves report them.
    `${toCompileLine(place.command)} >/dev/null 2>&1 </dev/null${place.mustCompile === true ? ' || exit 1' : ''}`,
    `find "$GOCACHE" -type f -printf '%P\\0' | tar -C "$GOCACHE" --null -T - -czf ${ARCHIVE}`,
  ]
  const run = await runCommand(place.confinement, {
    ...place.job,
    argv: ['bash', '-c', lines.join('\n'), 'bash', ...place.seeds],
    cwd: '.',
    env: { ...place.env, GOCACHE: place.cache, GOTOOLCHAIN: 'local' },
    shown: place.seeds,
    network: false,
    writes: 'discard',
    git: 'read',
    collect: [ARCHIVE],
    timeoutMs: COMPILE_MS_MAX,
  })
  const archive = run.files.get(ARCHIVE)
  return run.exitCode !== 0 || archive === undefined ? null : unpack(archive)
}

const PLAIN_TEST = /^go test((?: [\w./=,:+-]+)*)$/

/**
 * The test command without running test programs. Any command other than a plain `go test` is replaced, because it
 * could run anything.
 */
export function toCompileLine(command: string): string {
  const [, words] = PLAIN_TEST.exec(command.trim()) ?? []
  const isPlain = words !== undefined && !/ --?(?:exec|toolexec|vettool|overlay|modfile|o|C)\b/.test(words)
  return `go test -exec /bin/true${isPlain ? words : ' ./...'}`
}

/** The cache entries in an archive; other files are ignored. */
async function unpack(archive: Buffer): Promise<ReadonlyMap<string, Buffer> | null> {
  const files = new Map<string, Buffer>()
  try {
    const bytes = await promisify(gunzip)(archive, { maxOutputLength: UNPACKED_BYTES_MAX })
    for (let at = 0; at + BLOCK <= bytes.length; ) {
      const name = readField(bytes, at, 100)
      const size = Number.parseInt(readField(bytes, at + 124, 12), 8)
      if (name === '') break
      if (!Number.isSafeInteger(size)) return null
      const [, entry] = ENTRY.exec(name) ?? []
      const content = bytes.subarray(at + BLOCK, at + BLOCK + size)
      if (entry !== undefined && content.length === size) files.set(entry, content)
      at += BLOCK + Math.ceil(size / BLOCK) * BLOCK
    }
    return files
  } catch {
    return null
  }
}

function readField(bytes: Buffer, at: number, length: number): string {
  return bytes
    .toString('latin1', at, at + length)
    .replace(/\0.*$/s, '')
    .trim()
}
