import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ROOT } from '../disk/place.js'

type Patch = readonly [text: string, instead: string]

const ANSWERS_ITSELF: Patch = ['return home == null || home === this.cluster?.nodeId ? null : home;', 'return null;']

/** Faults that are planted into a copy of the built program: the torture must find each. */
export const FAULTS = {
  /** Every node decides on every task, and does not compare versions when it writes. */
  'a claim without compare-and-set': [
    ANSWERS_ITSELF,
    ['if (head.home !== "" && head.home !== lease.nodeId) return', 'if (false) return'],
    ['if (head.version !== append.expectedVersion || lines.isBroken(append.line)) return', 'if (false) return'],
  ],
  /** A node answers what is only read about a task of another one, and believes what it read of it first. */
  'a token checked with what a node remembers': [
    [
      'const stream = await findStream(this.app, request, principal);',
      'if (request.method === "GET") return false; const stream = await findStream(this.app, request, principal);',
    ],
    ['if (known === void 0 || formatStream(taskId) !== event.stream) return;', 'return;'],
  ],
  /** A process whose node was started elsewhere goes on. */
  'no fencing': [
    ['if (found?.epoch !== epoch) throw refuseReplaced(this.nodeId);', ''],
    ['if (found.alive !== true && !await this.#renew()) throw refuseReplaced(this.nodeId);', ''],
    [
      'if (rows[0]?.epoch !== lease.epoch) throw new StoreUnavailable(`Another',
      'if (false) throw new StoreUnavailable(`Another',
    ],
    ['if (rows[0]?.alive !== true) throw new StoreUnavailable', 'if (false) throw new StoreUnavailable'],
  ],
} as const satisfies Record<string, readonly Patch[]>

// The program, and its threads: one of them writes the ledger.
const CHANGED: readonly string[] = ['program', 'threads']

/** The program as it was built. */
export const GOOD_PROGRAM = join(ROOT, 'bin/phaselock')

/** Copies the program, changes the copy and gives its path. */
export function plantFault(name: keyof typeof FAULTS): { readonly program: string; readonly dir: string } {
  const dir = mkdtempSync(join(tmpdir(), 'phaselock-faulty-'))
  mkdirSync(join(dir, 'dist'))
  for (const one of readdirSync(ROOT)) if (one !== 'dist' && one !== 'bin') symlinkSync(join(ROOT, one), join(dir, one))
  for (const one of readdirSync(join(ROOT, 'dist')))
    if (!CHANGED.includes(one)) symlinkSync(join(ROOT, 'dist', one), join(dir, 'dist', one))
  cpSync(join(ROOT, 'bin'), join(dir, 'bin'), { recursive: true })
  for (const one of CHANGED) cpSync(join(ROOT, 'dist', one), join(dir, 'dist', one), { recursive: true })
  for (const [text, instead] of FAULTS[name]) replaceOnce(join(dir, 'dist'), text, instead)
  return { program: join(dir, 'bin/phaselock'), dir }
}

function replaceOnce(dist: string, text: string, instead: string): void {
  const files = CHANGED.flatMap((folder) => readdirSync(join(dist, folder)).map((file) => join(dist, folder, file)))
  const found = files.filter((file) => readFileSync(file, 'utf8').includes(text))
  const [file] = found
  if (file === undefined || found.length > 1) throw new Error(`the program has ${found.length} files with: ${text}`)
  const content = readFileSync(file, 'utf8')
  if (content.split(text).length !== 2) throw new Error(`${file} has it more than once: ${text}`)
  writeFileSync(
    file,
    content.replace(text, () => instead),
  )
}
