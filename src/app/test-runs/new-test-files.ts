import { scoreName } from '../../checks/inverted/find-test.js'
import type { IsNewResult } from '../../checks/inverted/new-results.js'
import type { OtherFile } from '../../checks/inverted/subjects.js'
import { isTestIn } from '../../checks/red-green/red-files.js'
import { mayComputeNames, readTestNames } from '../../checks/test-files/test-names.js'
import type { ObservedRun, ObservedTest } from '../../core/evidence/observed-run.js'
import type { TestTexts } from './inverted-files.js'

interface Results {
  readonly plain: ObservedRun
  readonly hasNewResult: IsNewResult
}

/** New results of tests whose file the runner does not report. */
function listUnplaced({ plain, hasNewResult }: Results): readonly ObservedTest[] {
  return plain.tests.filter((test) => test.file === null && test.status === 'passed' && hasNewResult(test))
}

/** The names of tests in unchanged files, where one of them may be the file of a test with a new result. */
export async function readOtherNames(others: TestTexts['others'], results: Results): Promise<readonly OtherFile[]> {
  const unplaced = listUnplaced(results)
  if (unplaced.length === 0) return others
  return Promise.all(
    others.map(async ({ path, text }) => {
      const isNeeded = mayComputeNames(path, text) || unplaced.some((test) => isTestIn(test, path, text))
      const names = isNeeded ? await readTestNames(path, text) : []
      return names.length === 0 ? { path, text } : { path, text, names }
    }),
  )
}

/** Without the unchanged files that the task named, unless one of their tests has a new result. */
export async function leaveOutOld(texts: TestTexts, results: Results): Promise<TestTexts> {
  const changed = texts.tests.filter(({ text, before }) => text !== before)
  const fresh = results.plain.tests.filter((test) => test.status === 'passed' && results.hasNewResult(test))
  const unplaced = fresh.filter((test) => !changed.some(({ path, text }) => isTestIn(test, path, text)))
  const kept = new Set(changed)
  for (const one of texts.tests) {
    if (kept.has(one) || unplaced.length === 0) continue
    const names = await readTestNames(one.path, one.text)
    const isIts = (test: ObservedTest): boolean =>
      isTestIn(test, one.path, one.text) || (test.file === null && scoreName(test.id, names) >= 0)
    if (unplaced.some(isIts)) kept.add(one)
  }
  const out = texts.tests.filter((one) => !kept.has(one))
  return { ...texts, tests: texts.tests.filter((one) => kept.has(one)), others: [...texts.others, ...out] }
}
