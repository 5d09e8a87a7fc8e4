import { readFileSync } from 'node:fs'

/** Names of the account that commands see inside. */
export const INSIDE_ID = 1000
/** Real ids for a server that runs as root: above everything that systems and containers assign by themselves. */
const PREFERRED_ID = 1_900_000_001
const NOBODY = 65_534

export type Identity =
  | { readonly kind: 'user' }
  /**
   * Two otherwise unused real ids: `keeper` owns the namespaces, commands run as `command`. Commands can open files of
   * owners up to `passed`.
   */
  | { readonly kind: 'root'; readonly keeper: number; readonly command: number; readonly passed: number }

/** The account of commands: the server's own user or, if that is root, a separate uid. */
export function detectIdentity(): Identity {
  if (process.getuid?.() !== 0) return { kind: 'user' }
  const maps = ['/proc/self/uid_map', '/proc/self/gid_map'].map((file) => parseExtents(readFileSync(file, 'utf8')))
  const highest = Math.min(...maps.map((map) => Math.max(...map.map(({ last }) => last))), 4_294_967_293)
  const keeper = Math.min(PREFERRED_ID, highest - 1)
  // Company directories assign large ids. If a map has a gap there, ids beyond it cannot be named.
  const passed = maps.map((map) => map.find(({ first, last }) => first <= NOBODY && last > NOBODY)?.last ?? NOBODY)
  return { kind: 'root', keeper, command: keeper + 1, passed: Math.min(keeper - 1, ...passed) }
}

function parseExtents(map: string): readonly { readonly first: number; readonly last: number }[] {
  return map
    .trim()
    .split('\n')
    .map((line) => {
      const [first = 0, , count = 0] = line.trim().split(/\s+/).map(Number)
      return { first, last: first + count - 1 }
    })
}

/**
 * The id map of the namespaces under a root server. Every real id has a name inside, so that files of any owner can be read and
 * copied; real root is nobody there, and what runs as 1000 inside is nobody outside.
 */
export function buildIdMap(identity: Extract<Identity, { kind: 'root' }>): string {
  const { keeper, command, passed } = identity
  const ranges = [
    [0, keeper, 1],
    [INSIDE_ID, command, 1],
    [1, 1, INSIDE_ID - 1],
    [INSIDE_ID + 1, INSIDE_ID + 1, NOBODY - INSIDE_ID - 1],
    [NOBODY, 0, 1],
    ...(passed > NOBODY ? [[NOBODY + 1, NOBODY + 1, passed - NOBODY]] : []),
  ]
  // In a container with few ids our two ids would be inside the range that is passed through.
  if (keeper <= NOBODY) return narrowMap(identity)
  return ranges.map((range) => `${range.join(' ')}\n`).join('')
}

function narrowMap({ keeper, command }: { readonly keeper: number; readonly command: number }): string {
  return [
    `0 ${keeper} 1`,
    `${INSIDE_ID} ${command} 1`,
    `1 1 ${INSIDE_ID - 1}`,
    ...(keeper > INSIDE_ID + 1 ? [`${INSIDE_ID + 1} ${INSIDE_ID + 1} ${keeper - INSIDE_ID - 1}`] : []),
    `${NOBODY + 1} 0 1`,
    '',
  ].join('\n')
}
