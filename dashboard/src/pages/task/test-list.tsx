import { useState } from 'react'
import { Icon, type IconName } from '../../ui/icon.js'
import { PlainText } from '../../ui/text/plain-text.js'
import type { TestChange } from './observed-runs.js'

const SHOWN = 30

const ICONS: Readonly<Record<TestChange['status'], IconName>> = {
  passed: 'check',
  failed: 'close',
  skipped: 'clock',
  todo: 'clock',
  lost: 'warn',
}
const TONES: Readonly<Record<TestChange['status'], string>> = {
  passed: 'ok',
  failed: 'bad',
  skipped: 'muted',
  todo: 'muted',
  lost: 'bad',
}

interface Props {
  readonly tests: readonly TestChange[]
  /** How many there are in all; the record names the first ones. */
  readonly total: number
  /** What they are compared with; null: nothing. */
  readonly against: string | null
}

/** The tests of a run by id, those that changed first. */
export function TestList({ tests, total, against }: Props) {
  const [shown, setShown] = useState(SHOWN)
  return (
    <>
      <p className="muted">{describeChanges(tests, against)}</p>
      <ul className="tests">
        {tests.slice(0, shown).map(({ id, status, mark }) => (
          <li key={id}>
            <span className={TONES[status]}>
              <Icon name={ICONS[status]} size={14} />
              <span className="sr">{status}: </span>
            </span>
            <span className="mono">
              <PlainText text={id} charsMax={300} />
            </span>
            {mark !== null && <span className={`test-mark ${TONES[status]}`}>{mark}</span>}
          </li>
        ))}
      </ul>
      {tests.length > shown && (
        <button type="button" className="link" onClick={() => setShown(shown + 200)}>
          {tests.length - shown} more tests
        </button>
      )}
      {total > tests.length && <p className="muted">{total - tests.length} more tests are counted, not named.</p>}
    </>
  )
}

function describeChanges(tests: readonly TestChange[], against: string | null): string {
  if (tests.length === 0) return 'No test is named in this record.'
  if (against === null) return `${tests.length} tests`
  const count = (mark: TestChange['mark']): number => tests.filter((test) => test.mark === mark).length
  const marks = (['new', 'turned red', 'turned green', 'lost'] as const).map((mark) => [mark, count(mark)] as const)
  const parts = marks.filter(([, number]) => number > 0).map(([mark, number]) => `${number} ${mark}`)
  return `${tests.length} tests; against ${against}: ${parts.length === 0 ? 'the same results' : parts.join(', ')}`
}
