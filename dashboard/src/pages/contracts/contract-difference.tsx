import { structuredPatch } from 'diff'
import { type ReactNode, useMemo } from 'react'
import { Pick } from '../../ui/controls.js'
import { Panel } from '../../ui/layout-parts.js'
import { Delta } from '../../ui/marks.js'
import { EmptyState, Loaded } from '../../ui/states.js'
import { PlainText } from '../../ui/text/plain-text.js'
import { type ContractRow, shortenHash } from './contract-answers.js'
import { useContractText } from './contract-text.js'

interface Props {
  readonly contract: ContractRow
  readonly contracts: readonly ContractRow[]
  /** The hash that it is compared with; empty: the version before it. */
  readonly other: string
  readonly onChange: (hash: string) => void
}

/** What differs between two versions, line by line. */
export function ContractDifference({ contract, contracts, other, onChange }: Props): ReactNode {
  const others = contracts.filter((one) => one.hash !== contract.hash)
  const sorted = others.sort((a, b) => rank(contract, a) - rank(contract, b))
  const chosen = others.find((one) => one.hash === other) ?? sorted[0]
  if (chosen === undefined)
    return (
      <EmptyState icon="diff" title="There is nothing to compare with">
        Another version appears here once it is registered: <code>phaselock contract add FILE</code>
      </EmptyState>
    )
  return (
    <div className="stack">
      <div className="tools">
        <Pick
          label="Compare with"
          value={chosen.hash}
          options={sorted.map((one) => ({
            value: one.hash,
            name: `${one.name} ${one.version} (${shortenHash(one.hash)})`,
          }))}
          onChange={onChange}
        />
      </div>
      <Compared from={chosen} to={contract} />
    </div>
  )
}

// Older versions of the same name first, the newest of them in front; other contracts last.
function rank(contract: ContractRow, other: ContractRow): number {
  const age = Date.parse(contract.registered_at) - Date.parse(other.registered_at)
  const isSame = other.name === contract.name ? 0 : 1e15
  return isSame + (age >= 0 ? age : 1e13 - age)
}

function Compared({ from, to }: { readonly from: ContractRow; readonly to: ContractRow }): ReactNode {
  const before = useContractText(from.hash)
  const after = useContractText(to.hash)
  return (
    <Loaded what="The older text" query={before} rows={8}>
      {(old) => (
        <Loaded what="The text" query={after} rows={8}>
          {(now) => <Lines from={from} to={to} old={old.text} now={now.text} />}
        </Loaded>
      )}
    </Loaded>
  )
}

interface LinesProps {
  readonly from: ContractRow
  readonly to: ContractRow
  readonly old: string
  readonly now: string
}

const CONTEXT = 3
const LINE_CHARS_MAX = 4000
// Texts that have nothing in common are not worth the time that comparing them takes.
const COMPARE_MS_MAX = 2000

function Lines({ from, to, old, now }: LinesProps): ReactNode {
  const hunks = useMemo(() => {
    const options = { context: CONTEXT, timeout: COMPARE_MS_MAX }
    return structuredPatch('', '', old, now, '', '', options)?.hunks ?? null
  }, [old, now])
  if (hunks === null)
    return (
      <EmptyState icon="diff" title="The texts differ almost everywhere">
        Comparing them line by line would take too long. Read both under Text.
      </EmptyState>
    )
  const count = (sign: string) => hunks.flatMap(({ lines }) => lines).filter((line) => line.startsWith(sign)).length
  if (hunks.length === 0)
    return (
      <EmptyState icon="diff" title="The texts are the same">
        Only what stands beside the text differs, such as a schema or a guide that it reads.
      </EmptyState>
    )
  return (
    <Panel
      title={`${from.name} ${from.version} to ${to.name} ${to.version}`}
      end={<Delta additions={count('+')} deletions={count('-')} />}
      flush
    >
      <div className="con-diff">
        {hunks.map((hunk) => (
          <Hunk key={`${hunk.oldStart} ${hunk.newStart}`} hunk={hunk} />
        ))}
      </div>
    </Panel>
  )
}

interface HunkProps {
  readonly hunk: { readonly oldStart: number; readonly newStart: number; readonly lines: readonly string[] }
}

const SIGNS: Readonly<Record<string, { readonly name: string; readonly said: string }>> = {
  '+': { name: 'con-added', said: 'added' },
  '-': { name: 'con-removed', said: 'removed' },
}

function Hunk({ hunk }: HunkProps): ReactNode {
  let [old, now] = [hunk.oldStart, hunk.newStart]
  return (
    <>
      <p className="con-hunk">
        from line {hunk.oldStart}, now line {hunk.newStart}
      </p>
      {hunk.lines.map((line, index) => {
        const sign = line[0] ?? ' '
        if (sign === '\\') return null
        const numbers = [sign === '+' ? '' : old, sign === '-' ? '' : now]
        if (sign !== '+') old += 1
        if (sign !== '-') now += 1
        return (
          // biome-ignore lint/suspicious/noArrayIndexKey: a line has no identity but its place
          <div key={index} className={`con-diff-line ${SIGNS[sign]?.name ?? ''}`}>
            <span className="con-number">{numbers[0]}</span>
            <span className="con-number">{numbers[1]}</span>
            <span aria-hidden="true">{sign}</span>
            <span className="pre">
              {SIGNS[sign] === undefined ? null : <span className="sr">{SIGNS[sign].said}: </span>}
              <PlainText text={line.slice(1)} charsMax={LINE_CHARS_MAX} />
            </span>
          </div>
        )
      })}
    </>
  )
}
