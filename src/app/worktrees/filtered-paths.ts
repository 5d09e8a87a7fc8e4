import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Result, refuse } from '../result.js'
import { type GitPlace, listLocalSettings, runGit } from './run-git.js'

const TOLD_MAX = 200
const NAMED_MAX = 20
const FILTER_OF = ['check-attr', '-z', '--stdin', 'filter']

/** Refuses to go from one commit to the other if that needs a filter that only the repository's settings define. */
export async function refuseFiltered(
  origin: GitPlace,
  { before, after }: { readonly before: string; readonly after: string },
): Promise<Result<never> | null> {
  const { filters } = await listLocalSettings(origin)
  if (filters.size === 0) return null
  const changed = ['diff-tree', '-r', '-z', '--name-only', '--no-renames', '--diff-filter=d', before, after]
  const found = await findFilteredPaths(origin, { filters, after, paths: (await runGit(origin, changed)).stdout })
  if (found.length === 0) return null
  const names = [...filters].slice(0, NAMED_MAX).join(', ')
  return refuse(
    'conflict',
    `These files need a filter (${names}) from the settings of the repository, which the server does not run: ${found.slice(0, NAMED_MAX).join(', ')}. Nothing was merged.`,
    {
      filtered: found.slice(0, TOLD_MAX),
      filtered_count: found.length,
      remedy:
        'Hand the branch over with `phaselock task handover`, and merge it with git by hand; or define the filter in your own settings with `git config --global`.',
    },
  )
}

// Attributes come from the new commit or, if it has none, from the work tree.
async function findFilteredPaths(
  origin: GitPlace,
  one: { readonly filters: ReadonlySet<string>; readonly after: string; readonly paths: string },
): Promise<readonly string[]> {
  const folder = mkdtempSync(join(tmpdir(), 'phaselock-attributes-'))
  const place: GitPlace = { ...origin, index: join(folder, 'index'), input: one.paths }
  try {
    await runGit(place, ['read-tree', one.after])
    const found = new Set<string>()
    for (const words of [FILTER_OF, [...FILTER_OF, '--cached']]) {
      const run = await runGit(place, words)
      if (run.code !== 0) throw new Error(`git check-attr failed: ${run.said}`)
      const parts = run.stdout.split('\0')
      for (let at = 0; at + 2 < parts.length; at += 3)
        if (one.filters.has(parts[at + 2] ?? '')) found.add(parts[at] ?? '')
    }
    return [...found]
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
