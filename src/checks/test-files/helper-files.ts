import { posix } from 'node:path'
import type { Helper } from '../../inverter/types.js'
import type { CheckInputs } from '../check-inputs.js'
import { isTestLike, readText } from './test-files.js'

/** Reads the files beside a test file that belong to tests. */
export interface HelperFiles {
  /** Files that may define what a test file uses, nearest first. */
  find(path: string, helper: Helper): Promise<readonly string[]>
  read(path: string): Promise<string | null>
}

const BESIDE_MAX = 200

/** Reads helpers from the work tree. Code under test is none: what it throws or checks, it does for its callers. */
export function openHelperFiles({ contract, tree }: Pick<CheckInputs, 'contract' | 'tree'>): HelperFiles {
  return {
    read: (path) => readText(tree, path),
    find: async (path, { module }) => {
      const isHelper = (other: string): boolean => other !== path && isTestLike(contract, other)
      if (module !== '.') return listPaths(path, module).filter(isHelper)
      const beside = await tree.listFolder(posix.dirname(path))
      return beside
        .map((file) => file.path)
        .filter((other) => other.endsWith('.go') && other !== path)
        .slice(0, BESIDE_MAX)
    },
  }
}

/** Where a module may be that a file names. */
function listPaths(path: string, module: string): readonly string[] {
  const folder = posix.dirname(path)
  if (path.endsWith('.rs')) return [`${module}.rs`, `${module}/mod.rs`].map((name) => posix.join(folder, name))
  if (path.endsWith('.py')) return listPythonPaths(folder, module)
  const named = posix.join(folder, module)
  const stem = named.replace(/\.[cm]?jsx?$/, '')
  return [named, ...SCRIPTS.flatMap((end) => [`${stem}.${end}`, `${named}/index.${end}`])]
}

const SCRIPTS = ['js', 'ts', 'mjs', 'cjs', 'mts', 'cts', 'jsx', 'tsx']

function listPythonPaths(folder: string, module: string): readonly string[] {
  const [, dots = '', rest = ''] = /^(\.*)(.*)$/s.exec(module) ?? []
  const names = rest.split('.').filter((name) => name !== '')
  const roots =
    dots === ''
      ? [folder, '.']
      : [
          posix.join(
            folder,
            ...dots
              .slice(1)
              .split('')
              .map(() => '..'),
          ),
        ]
  return roots.flatMap((root) => {
    const stem = posix.join(root, ...names)
    return [`${stem}.py`, `${stem}/__init__.py`]
  })
}
