// What the inverted run says of each test that passes in the plain suite.

export const VERDICTS = ['proved', 'survived', 'not_judged', 'no_evidence']

// Errors that a rewritten text may raise by itself, and what says nothing of the assertion.
const ARTEFACT =
  /^(?:Uncaught )?(?:\w{1,80}\.){0,5}(?:Reference|Type|Name|Syntax|Indentation|UnboundLocal|Import|ModuleNotFound|Recursion|Range|Internal|Attribute)Error\b|^panic: (?!testing: )|runtime error: |^\S+ is not (?:defined|a function|iterable)\b|^Cannot read propert|\btimed out\b|\btimeout of \d+ ?ms\b|\bexceeded timeout\b|\bTimeoutError\b|\bECONN\w+\b|socket hang up/i
// How runners word a failed assertion. What fits neither pattern is counted as proved and listed by --sample first.
const ASSERTION =
  /\bAssertionError\b|\bERR_ASSERTION\b|^assert\b|^assertion\b|\bassertion .{0,80}failed|^(?:Error: )?expect(?:ed)?\b|\bexpected\b.*\b(?:got|to|but|actual)\b|\bshould\b|\bDID NOT (?:RAISE|WARN)\b|^Failed: |\bPattern\b.*\bdid not match|did not match the regular expression|\bReceived:|^Error Trace:|\bNot equal\b|evaluated to a falsy value| (?:==|===|!=|!==|deepEqual) |\bpanicked at\b|^Missing expected (?:exception|rejection)|^Got unwanted/i

/** `assertion`, `other`, or `unclear` where the message says neither. */
export function kindOfFailure(message, expectsException) {
  const text = (message ?? '').trim()
  if (/\bAssertionError\b/.test(text)) return 'assertion'
  if (ARTEFACT.test(text)) return expectsException ? 'unclear' : 'other'
  return ASSERTION.test(text) ? 'assertion' : 'unclear'
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
    const results = { unturned: unturned.get(id), turned: resultOf(turned, id), outer: resultOf(outer, id) }
    return { ...place, message: results.turned?.message ?? null, ...judgeTest(results, own, runs) }
  })
}

// A subtest of Go is missing where the test around it failed before it was reached.
function resultOf(results, id) {
  const result = results.get(id)
  const slash = id.lastIndexOf('/')
  if (result !== undefined || !id.includes(' > ') || slash < id.lastIndexOf(' > ')) return result
  const around = resultOf(results, id.slice(0, slash))
  return around?.status === 'failed' ? around : undefined
}

function judgeTest({ unturned, turned, outer }, own, runs) {
  if (unturned?.status !== 'passed')
    return noEvidence(`unturned ${unturned?.status ?? 'missing'}: ${unturned?.message ?? ''}`)
  const first = judgeTurned(turned, own, runs.turned)
  if (first.verdict === 'proved' || first.verdict === 'not_judged' || outer?.status !== 'failed') return first
  const retried = judgeFailure(outer, own)
  return retried.verdict === 'proved' ? { ...retried, retriedFor: first.why, message: outer.message } : first
}

function judgeTurned(turned, own, run) {
  if (turned === undefined) return noEvidence(run.isTimeout ? 'the turned run timed out' : 'missing in the turned run')
  if (turned.status === 'failed') return judgeFailure(turned, own)
  if (turned.status !== 'passed') return noEvidence(turned.status)
  if (own === null && /\.rs -(?: |$)/.test(turned.id)) return { verdict: 'not_judged', why: 'an example in a comment' }
  if (own !== null && own.turned === 0 && own.helpers.length === 0) return { verdict: 'not_judged', why: own.left }
  return { verdict: 'survived', why: own === null ? 'its source was not found' : `${own.turned} turned` }
}

function judgeFailure({ message }, own) {
  const kind = kindOfFailure(message, own?.expectsException === true)
  return kind === 'other' ? noEvidence(message) : { verdict: 'proved', why: kind }
}

function noEvidence(why) {
  return { verdict: 'no_evidence', why }
}

/** The tests that the inverter found, with a pattern for the id that a report gives them. */
function describeTests(inverted) {
  return [...inverted].flatMap(([file, inversion]) =>
    inversion.tests.map((test) => {
      const left = inversion.leftAlone
        .filter((one) => one.test === test.name)
        .map(({ assertion, reason }) => `${assertion}: ${reason}`)
      const expectsException = inversion.turnedAssertions.some(
        (one) => (one.test === null || one.test === test.name) && EXCEPTIONS.test(one.assertion),
      )
      const isRewritten = inversion.outcome === 'rewritten'
      return {
        ...{ file, line: test.line, turned: isRewritten ? test.turned : 0, helpers: isRewritten ? test.helpers : [] },
        ...{ left: [...new Set(left)].join(', '), pattern: patternOf(test.name), expectsException },
      }
    }),
  )
}

// Where one of these is turned, the exception itself may be what fails the test.
const EXCEPTIONS = /^(?:raises|warns|assertRaises\w*|assertWarns\w*|throws\w*|rejects|should_panic)$/
const HOLES = /\$\{[^}]*\}|%[a-zA-Z#%]|\$[\w.]+/

function patternOf(name) {
  const parts = name.split(/ > |::/).map((part) => {
    if (/^\(line \d+\)$/.test(part)) return '.*'
    const plain = part.replaceAll(/\\(.)/g, '$1')
    return plain
      .split(HOLES)
      .map((text) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&').replace(/\s+/g, '\\s+'))
      .join('.*')
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
