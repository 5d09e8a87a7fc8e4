import type { Dirent } from 'node:fs'
import { lstat, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Change } from '../../tree/change.js'
import type { JobCache } from '../confinement.js'
import { type Keeper, quoteWord } from '../launch/keeper.js'
import { TMP_BYTES_MAX } from '../launch/launch.js'
import type { Run } from './work-tree-view.js'

/** The cache folder of the home directory of commands: where Go, ccache, pip and others cache what they built. */
export const CACHE_INSIDE = '/tmp/.cache'
/** Programs whose cache is elsewhere in the home directory unless a variable says otherwise. */
export const CACHE_VARIABLES: Readonly<Record<string, string>> = { GRADLE_USER_HOME: `${CACHE_INSIDE}/gradle` }

const CACHE_BYTES_MAX = 512 * 1024 * 1024
const CACHE_ENTRIES_MAX = 40_000
/** Limits for the caches of tasks. */
export const CACHE_LIMITS = {
  bytesMax: CACHE_BYTES_MAX,
  entriesMax: CACHE_ENTRIES_MAX,
  layersMax: 16,
  place: 'the cache folder (~/.cache)',
}
const DEPTH_MAX = 32

/** Below the folder of a run: a separate file system, so that a cache cannot take the space of other commands. */
export const CACHE = 'c'
const UPPER = `${CACHE}/u`
const WORK = `${CACHE}/w`
export const CACHE_MERGED = `${CACHE}/m`

/**
 * Prepares the cache folder of a command. What it writes there stays in memory until it ends. Without overlays the
 * earlier files are links; they must be shown at their own place.
 */
export async function mountCache(
  keeper: Keeper,
  run: Run,
  { cache, trees }: { readonly cache: JobCache; readonly trees: 'overlay' | 'copy' },
): Promise<void> {
  const lower = listLower(cache)
  const options = `nosuid,nodev,mode=755,size=${TMP_BYTES_MAX}`
  const lines = [
    `cd ${quoteWord(run.dir)}`,
    `mkdir ${CACHE}`,
    `mount -t tmpfs -o ${options} phaselock ${CACHE}`,
    `mkdir -m 777 ${UPPER} ${WORK} ${CACHE_MERGED}`,
  ]
  const plain = `mount --bind ${UPPER} ${CACHE_MERGED}`
  // A cache that is replaced at this moment cannot be mounted: the command then starts with an empty one.
  const filled =
    trees === 'overlay'
      ? `{ ${buildOverlayLine(lower)} 2>/dev/null || ${plain}; }`
      : [...lower.map((from) => `{ cp -rs -- ${quoteWord(`${from}/.`)} ${UPPER} 2>/dev/null || :; }`), plain].join(
          ' && ',
        )
  await keeper.ask([...lines, lower.length === 0 ? plain : filled].join(' && '))
}

/** From the top. */
export function listLower({ layer, seeds }: JobCache): readonly string[] {
  return layer === null ? seeds : [layer, ...seeds]
}

// Names with commas or colons cannot be used in mount options.
function buildOverlayLine(lower: readonly string[]): string {
  const links = lower.map((from, at) => `ln -s ${quoteWord(from)} ${CACHE}/${at}`)
  const names = lower.map((_, at) => `${CACHE}/${at}`).join(':')
  const mount = `mount -i -n -t overlay -o lowerdir=${names},upperdir=${UPPER},workdir=${WORK},userxattr overlay ${CACHE_MERGED}`
  return [...links, mount].join(' && ')
}

/** The files that a command left in its cache folder, and those of the earlier layer that it removed. */
export async function readCacheChanges(
  run: Run,
  layer: string | null,
): Promise<{ readonly list: readonly Change[]; readonly isCut: boolean; readonly view: string }> {
  const view = join(run.seen, UPPER)
  const written = new Listing()
  await written.readFolder(view, '')
  if (written.list.length === 0 && !written.isCut) return { list: [], isCut: false, view }
  const gone = layer === null ? [] : await listGone(layer, join(run.seen, CACHE_MERGED))
  return { list: [...gone, ...written.list], isCut: written.isCut, view }
}

/** Files and folders only: links could lead anywhere, and a cache does without them. */
class Listing {
  readonly list: Change[] = []
  isCut = false
  #bytes = 0

  async readFolder(root: string, path: string, depth = 0): Promise<void> {
    if (depth > DEPTH_MAX) this.isCut = true
    const entries = this.isCut ? [] : await readEntries(join(root, path))
    for (const entry of entries) {
      const at = path === '' ? entry.name : `${path}/${entry.name}`
      if (entry.isDirectory()) {
        this.#add({ path: at, type: 'directory', bytes: null })
        await this.readFolder(root, at, depth + 1)
      } else if (entry.isFile()) {
        const { size } = await lstat(join(root, at))
        this.#bytes += size
        this.#add({ path: at, type: 'file', bytes: size })
      }
      if (this.isCut) return
    }
  }

  #add(entry: Pick<Change, 'path' | 'type' | 'bytes'>): void {
    this.isCut = this.list.length >= CACHE_ENTRIES_MAX || this.#bytes > CACHE_BYTES_MAX
    if (!this.isCut) this.list.push({ ...entry, kind: 'modified', sha256: null, problem: null })
  }
}

// A folder that its owner made unreadable is left out: nothing in it can be used again.
async function readEntries(folder: string): Promise<readonly Dirent[]> {
  try {
    return await readdir(folder, { withFileTypes: true })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EACCES') return []
    throw error
  }
}

async function listGone(layer: string, merged: string): Promise<readonly Change[]> {
  const before = new Listing()
  await before.readFolder(layer, '')
  const gone: Change[] = []
  for (const entry of before.list)
    if ((await lstat(join(merged, entry.path)).catch(() => null)) === null) gone.push({ ...entry, kind: 'deleted' })
  return gone
}
