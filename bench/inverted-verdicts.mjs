// What the inverted run says of each test that passes in the plain suite.

export const VERDICTS = ['proved', 'survived', 'not_judged', 'no_evidence']

// How the runners word a failed assertion. A message that fits none of these may come from anything else that went wrong.
const ASSERTION = [
  /\bAssertionError\b|\bAssertionFailedError\b|\bERR_ASSERTION\b/,
]

export function isAssertion(message) {
  return ASSERTION.some((pattern) => pattern.test(message ?? ''))
}

/** `runs.outer` is the retry with outer assertions only. */
export function judgeSuite({ inverted, runs }) {
  const found = describeTests(inverted)
  const byId = (run) => new Map((run?.tests ?? []).map((test) => [test.id, test]))
  const [unturned, turned, outer] = [byId(runs.unturned), byId(runs.turned), byId(runs.outer)]
  const passed = runs.plain.tests.filter(({ status }) => status === 'passed')
  return passed.map(({ id, file }) => {
    const own = findTest(found, id, file)
    const place = { id, file: own?.file ?? file, line: own?.line ?? null }
    const results = { unturned: unturned.get(id), turned: turned.get(id), outer: outer.get(id) }
    return { ...place, message: results.turned?.message ?? results.outer?.message ?? null, ...judgeTest(results, own, runs) }
  })
}

function judgeTest({ unturned, turned, outer }, own, runs) {
  if (unturned?.status !== 'passed') return noEvidence(`unturned ${unturned?.status ?? 'missing'}: ${unturned?.message ?? ''}`)
  if (turned === undefined) return noEvidence(runs.turned.isTimeout ? 'the turned run timed out' : 'missing in the turned run')
  if (turned.status === 'failed')
    return isAssertion(turned.message) ? { verdict: 'proved', why: '' } : noEvidence(turned.message ?? '')
  if (turned.status !== 'passed') return noEvidence(turned.status)
  if (own !== null && own.turned === 0 && own.helpers.length === 0) return { verdict: 'not_judged', why: own.left }
  if (outer?.status === 'failed' && isAssertion(outer.message)) return { verdict: 'proved', why: 'outer assertions' }
  return { verdict: 'survived', why: own === null ? 'its source was not found' : `${own.turned} turned` }
}

function noEvidence(why) {
  return { verdict: 'no_evidence', why }
}

/** The tests that the inverter found, with a pattern for the id that a report gives them. */
function describeTests(inverted) {
  return [...inverted].flatMap(([file, inversion]) =>
    inversion.tests.map((test) => {
      const left = inversion.leftAlone.filter((one) => one.test === test.name).map(({ assertion, reason }) => `${assertion}: ${reason}`)
      const isRewritten = inversion.outcome === 'rewritten'
      return {
        ...{ file, line: test.line, turned: isRewritten ? test.turned : 0, helpers: isRewritten ? test.helpers : [] },
        ...{ left: [...new Set(left)].join(', '), pattern: patternOf(test.name) },
      }
    }),
  )
}

const HOLES = /\$\{[^}]*\}|%[a-zA-Z#%]|\$[\w.]+/

function patternOf(name) {
  const parts = name.split(/ > |::/).map((part) => {
    if (/^\(line \d+\)$/.test(part)) return '.*'
    const plain = part.replaceAll(/\\(.)/g, '$1')
    return plain.split(HOLES).map((text) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&').replace(/\s+/g, '\\s+')).join('.*')
  })
  return new RegExp(`(?:^|\\W)${parts.join('\\W+(?:.*\\W)?')}(?:$|\\[| > | #\\d| \\(\\d)`)
}

/** The test with the longest name that fits, of the same file where the report names it. */
function findTest(found, id, file) {
  const fitting = found.filter((test) => (file === null || test.file === file) && test.pattern.test(id))
  const sizeOf = ({ pattern }) => pattern.source.replaceAll('.*', '').length
  const best = fitting.toSorted((one, other) => sizeOf(other) - sizeOf(one))[0]
  return best ?? null
}
