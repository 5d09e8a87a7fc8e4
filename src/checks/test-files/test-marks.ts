import type { Contract } from '../../core/contract/contract.js'
import type { PinnedRun } from '../../core/evidence/observed-run.js'
import { NOT_THE_PROJECT, type WorkTree } from '../../tree/work-tree.js'
import { stripCommentsAndTexts } from './test-code.js'
import { isSource, isTestPath, readText } from './test-files.js'

type Marks = NonNullable<PinnedRun['marks']>

const FILES_MAX = 20_000

/** How many tests each test file skips. Files that skip none are not listed. */
export async function readMarks(tree: WorkTree, contract: Contract): Promise<Marks> {
  const tests = (await tree.list(NOT_THE_PROJECT)).filter(({ path }) => isTestPath(contract, path) && isSource(path))
  if (tests.length > FILES_MAX) throw new Error(`there are more than ${FILES_MAX} test files`)
  const found: [string, Readonly<Record<string, number>>][] = []
  for (const { path } of tests) {
    const marks = countMarks(path, (await readText(tree, path)) ?? '')
    if (Object.keys(marks).length > 0) found.push([path, marks])
  }
  return Object.fromEntries(found)
}

/** How many tests a file skips, by the marks it uses. */
export function countMarks(path: string, text: string): Readonly<Record<string, number>> {
  const code = stripCommentsAndTexts(path, text)
  const counted = new Map<string, number>()
  for (const pattern of /\.py$/.test(path) ? PYTHON : OTHERS)
    for (const [mark] of code.matchAll(pattern)) {
      const name = mark.replace(/\s+/g, '').replace(/\($/, '')
      counted.set(name, (counted.get(name) ?? 0) + 1)
    }
  return Object.fromEntries(counted)
}

const PYTHON: readonly RegExp[] = [
  /\b(?:pytest\s*\.\s*)?mark\s*\.\s*(?:skip|skipif|xfail)\b/g,
  /\bpytest\s*\.\s*(?:skip|xfail|importorskip|exit)\b/g,
  /(?<!\w)@?(?:unittest\s*\.\s*)?(?:skip|skipIf|skipUnless|expectedFailure)\b(?=\s*[(\n])/g,
  /\b(?:SkipTest|skipTest|__test__|collect_ignore(?:_glob)?)\b/g,
]

const OTHERS: readonly RegExp[] = [
  /\b(?:it|test|describe|suite|context|bench|specify|t|this)\s*(?:\.\s*\w+\s*){0,4}\.\s*(?:only|skip|todo|fails|failing|skipIf|runIf)\b/g,
  /(?<![\w$.])(?:xit|xtest|xdescribe|xcontext|xspecify|fit|fdescribe|ftest|fcontext)\s*(?:\.\s*\w+\s*)?\(/g,
  /(?<![\w$.])(?:only|skip|todo)\s*:/g,
  /(?<![\w$.])(?:only|skip|todo)\s*\(/g,
  /(?<![\w$.])(?:it|test|describe|suite)\s*\[/g,
  /#\[ignore\b|\bt\.Skip(?:f|Now)?\s*\(|@(?:Ignore|Disabled)\b|\[(?:Ignore|Skip)\b/g,
]

/** Files that skip more tests than before, each with the new marks. */
export function findNewMarks(before: Marks, now: Marks): readonly string[] {
  const was = new Map(Object.entries(before))
  return Object.entries(now).flatMap(([path, marks]) => {
    const known = new Map(Object.entries(was.get(path) ?? {}))
    return Object.entries(marks)
      .filter(([mark, count]) => count > (known.get(mark) ?? 0))
      .map(([mark]) => `${path} (${mark})`)
  })
}
