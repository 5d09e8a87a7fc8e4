import ignore from 'ignore'
import type { Change } from '../tree/change.js'
import type { IgnoreText } from '../tree/tree-contents.js'

// What tools leave behind wherever they run. A project that keeps such files in git is not known.
const ALWAYS = [
  '__pycache__/',
  '*.pyc',
  '.pytest_cache/',
  '.mypy_cache/',
  '.ruff_cache/',
  '.nyc_output/',
  '.coverage',
  'coverage/',
  '.DS_Store',
  'node_modules/.cache/',
  'node_modules/.vite/',
  'node_modules/.vitest/',
  '*.tsbuildinfo',
]

/** Changes that count, and those of caches and other ignored files, which never reach the tree and never close anything. */
export interface Parted {
  readonly kept: readonly Change[]
  readonly scratch: readonly Change[]
}

/** Parts changes by the rules that held when work began, not by a .gitignore that was edited since. */
export function partChanges(
  changes: readonly Change[],
  rules: readonly IgnoreText[],
  isNamed: (path: string) => boolean,
): Parted {
  const matchers = [
    { base: '', rules: ignore({ ignorecase: false }).add(ALWAYS) },
    ...rules.map(({ base, text }) => ({ base, rules: ignore({ ignorecase: false }).add(text) })),
  ]
  const isScratch = ({ path, type, problem }: Change): boolean => {
    if (problem !== null || isNamed(path)) return false
    let answer = false
    for (const one of matchers) {
      if (one.base !== '' && !path.startsWith(`${one.base}/`)) continue
      const below = one.base === '' ? path : path.slice(one.base.length + 1)
      const { ignored, unignored } = one.rules.test(type === 'directory' ? `${below}/` : below)
      if (ignored || unignored) answer = ignored
    }
    return answer
  }
  const scratch = changes.filter(isScratch)
  return scratch.length === 0
    ? { kept: changes, scratch }
    : { kept: changes.filter((one) => !scratch.includes(one)), scratch }
}
