import type { LedgerEvent, TestRun } from 'phaselock/sdk'

const COUNTS = [
  ['failed', 'failed'],
  ['not_loaded', 'not built or loaded'],
  ['passed', 'passed'],
  ['skipped', 'skipped'],
] as const

const VERDICTS = [
  ['proved', 'proved'],
  ['survived', 'cannot fail'],
  ['not_judged', 'not judged'],
  ['no_evidence', 'without evidence'],
] as const

/** A run of the tests in a few words: `2 passed; new tests: 1 proved`. What failed comes first. */
export function runText(run: TestRun = {}): string {
  const counts = COUNTS.flatMap(([name, words]) => formatCounted(run[name], words))
  // Servers before 0.3 counted all judged tests, and each subtest.
  const verdicts = VERDICTS.flatMap(([name, words]) =>
    formatCounted(run.inverted?.[`new_${name}`] ?? run.inverted?.[name], words),
  )
  const signal = run.sigusr1 === 'allowed' ? ['SIGUSR1 allowed'] : []
  return [counts.join(', '), ...signal, ...(verdicts.length === 0 ? [] : [`new tests: ${verdicts.join(', ')}`])]
    .filter((part) => part !== '')
    .join('; ')
}

function formatCounted(count: number | null | undefined, words: string): readonly string[] {
  return (count ?? 0) > 0 ? [`${count} ${words}`] : []
}

/** The newest test run at a gate, with its grade; empty if there is none. */
export function formatNewestTests(events: readonly Pick<LedgerEvent, 'type' | 'data'>[]): string {
  const run = events
    .flatMap(({ type, data }) =>
      type === 'transition_requested' ? ((data.observed ?? []) as readonly Observed[]) : [],
    )
    .findLast(({ name }) => name === 'tests')
  return run === undefined ? '' : `${run.grade ?? ''}: ${runText(run) || 'no test was counted'}`
}

type Observed = TestRun & { readonly name?: string; readonly grade?: string }
