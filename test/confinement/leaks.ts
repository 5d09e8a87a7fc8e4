import { readdirSync, readFileSync } from 'node:fs'
import { relative } from 'node:path'
import type { Program } from './program.js'
import type { Stage } from './stage.js'

const OWN_FILES = new Set(['signing.secret', 'operator.token'])

/** Every place where one of the values turned up, plain or in a usual disguise. */
export async function leaksOf(
  stage: Stage,
  program: Program,
  values: ReadonlyMap<string, string>,
): Promise<readonly string[]> {
  const exported = await stage.outside(`${program.node} ${program.script} audit export --state-dir ${stage.stateDir}`, {
    env: { ORCHESTRATOR_JWT_SECRET: stage.secrets.get('ORCHESTRATOR_JWT_SECRET') ?? '' },
  })
  if (exported.exit !== 0 || !exported.stdout.includes('tool_finished'))
    throw new Error(`no export: ${exported.stderr}`)
  const places: (readonly [where: string, text: string])[] = [
    ...stage.answers.map((text, index) => [`answer ${index}`, text] as const),
    ['the export of the ledger', exported.stdout],
    ['the log of the server', stage.output()],
    ...filesBelow(Buffer.from(stage.dir))
      .map((path) => ({ path, name: relative(stage.dir, path.toString('latin1')) }))
      .filter(({ name }) => !isOwn(name))
      .map(({ path, name }) => [name, unlessGone(() => readFileSync(path, 'latin1')) ?? ''] as const),
  ]
  return places.flatMap(([where, text]) =>
    [...values].flatMap(([name, value]) => {
      const found = Object.entries(formsOf(value)).find(([, form]) => text.includes(form))
      return found === undefined ? [] : [`${name} (${found[0]}) in ${where}`]
    }),
  )
}

// Where secrets belong: the server's own files, and those that the tests planted.
function isOwn(path: string): boolean {
  return path === 'descriptor' || (path.startsWith('state/') && OWN_FILES.has(path.slice('state/'.length)))
}

function formsOf(value: string): Readonly<Record<string, string>> {
  const bytes = Buffer.from(value)
  return {
    plain: value,
    'in part': value.slice(-24),
    reversed: [...value].reverse().join(''),
    hexadecimal: bytes.toString('hex'),
    // The last group depends on what follows.
    base64: bytes.toString('base64').slice(0, -4),
    base64url: bytes.toString('base64url').slice(0, -4),
    escaped: encodeURIComponent(value),
  }
}

// Names are bytes: some of them are no text on purpose. What a command left behind may be on its way out while it is looked at.
function filesBelow(folder: Buffer): readonly Buffer[] {
  const entries = unlessGone(() => readdirSync(folder, { withFileTypes: true, encoding: 'buffer' })) ?? []
  return entries.flatMap((entry) => {
    const path = Buffer.concat([folder, Buffer.from('/'), entry.name])
    if (entry.isDirectory()) return filesBelow(path)
    return entry.isFile() ? [path] : []
  })
}

function unlessGone<T>(look: () => T): T | null {
  try {
    return look()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw error
  }
}
