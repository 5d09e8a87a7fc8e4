import { type ReactNode, useEffect, useState } from 'react'
import { keys } from '../../api/keys.js'
import { useRead } from '../../api/use-api.js'
import { Button } from '../../ui/button.js'
import { Field } from '../../ui/controls.js'
import { type AuditFilter, FIELD_NAMES, FILTER_FIELDS, type FilterField } from './audit-filter.js'

interface Stats {
  readonly events: number
  readonly by_type: Readonly<Record<string, number>>
  readonly by_code: Readonly<Record<string, number>>
}

export function useLedgerStats() {
  return useRead<Stats>(keys.audit('stats'), '/audit/stats')
}

interface Props {
  readonly filter: AuditFilter
  readonly onChange: (filter: AuditFilter) => void
}

const MORE: readonly FilterField[] = ['actor', 'phase', 'tool_name', 'stream', 'success', 'since', 'until']

/** The filters. What is typed counts after a short pause, or at once with Enter. */
export function AuditFilters({ filter, onChange }: Props): ReactNode {
  const { data } = useLedgerStats()
  const [isWide, setWide] = useState(MORE.some((field) => filter[field] !== undefined))
  const set = (field: FilterField) => (value: string) => onChange({ ...filter, [field]: value })
  const text = (field: FilterField, className = ''): ReactNode => (
    <TypedField
      key={field}
      name={FIELD_NAMES[field]}
      value={filter[field] ?? ''}
      className={className}
      onChange={set(field)}
    />
  )
  return (
    <search className="aud-filters" aria-label="Filters">
      {text('q', 'aud-search')}
      <Choice name="Type" value={filter.type ?? ''} counts={data?.by_type ?? {}} onChange={set('type')} />
      <Choice name="Code" value={filter.code ?? ''} counts={data?.by_code ?? {}} onChange={set('code')} />
      {text('task_id')}
      {text('agent_id')}
      {isWide ? (
        <>
          {text('actor')}
          {text('phase')}
          {text('tool_name')}
          {text('stream')}
          <Outcome value={filter.success ?? ''} onChange={set('success')} />
          <Moment name="From" value={filter.since ?? ''} onChange={set('since')} />
          <Moment name="Until" value={filter.until ?? ''} onChange={set('until')} />
        </>
      ) : null}
      <div className="acts aud-acts">
        <Button look="ghost" aria-expanded={isWide} onClick={() => setWide(!isWide)}>
          {isWide ? 'Fewer filters' : 'More filters'}
        </Button>
        {FILTER_FIELDS.some((field) => filter[field] !== undefined) ? (
          <Button look="ghost" icon="close" onClick={() => onChange({})}>
            Clear
          </Button>
        ) : null}
      </div>
    </search>
  )
}

const TYPING_PAUSE_MS = 400

interface TypedProps {
  readonly name: string
  readonly value: string
  readonly className?: string
  readonly onChange: (value: string) => void
}

function TypedField({ name, value, className = '', onChange }: TypedProps): ReactNode {
  const [typed, setTyped] = useState(value)
  useEffect(() => setTyped(value), [value])
  // biome-ignore lint/correctness/useExhaustiveDependencies: only what is typed starts the wait
  useEffect(() => {
    if (typed === value) return
    const timer = setTimeout(() => onChange(typed), TYPING_PAUSE_MS)
    return () => clearTimeout(timer)
  }, [typed])
  return (
    <div className={className}>
      <Field
        label={name}
        value={typed}
        maxLength={200}
        spellCheck={false}
        onChange={(event) => setTyped(event.target.value)}
        onKeyDown={(event) => {
          if (event.key === 'Enter') onChange(typed)
        }}
      />
    </div>
  )
}

interface ChoiceProps extends TypedProps {
  readonly counts: Readonly<Record<string, number>>
}

function Choice({ name, value, counts, onChange }: ChoiceProps): ReactNode {
  const known = Object.entries(counts).sort(([a], [b]) => (a < b ? -1 : 1))
  const isKnown = value === '' || value in counts
  return (
    <label className="label">
      {name}
      <select className="field" value={value} onChange={(event) => onChange(event.target.value)}>
        <option value="">any</option>
        {isKnown ? null : <option value={value}>{value}</option>}
        {known.map(([one, count]) => (
          <option key={one} value={one}>
            {one} ({count.toLocaleString('en-GB')})
          </option>
        ))}
      </select>
    </label>
  )
}

function Outcome({ value, onChange }: Pick<TypedProps, 'value' | 'onChange'>): ReactNode {
  return (
    <label className="label">
      Outcome
      <select className="field" value={value} onChange={(event) => onChange(event.target.value)}>
        <option value="">any</option>
        <option value="true">allowed</option>
        <option value="false">refused</option>
      </select>
    </label>
  )
}

function Moment({ name, value, onChange }: TypedProps): ReactNode {
  return (
    <label className="label">
      {name}
      <input
        className="field"
        type="datetime-local"
        value={toLocal(value)}
        onChange={(event) => onChange(event.target.value)}
      />
    </label>
  )
}

// Addresses may hold exact times; the field shows local ones.
function toLocal(value: string): string {
  if (value === '' || /^\d{4}-\d\d-\d\dT\d\d:\d\d$/.test(value)) return value
  const at = new Date(value)
  if (Number.isNaN(at.getTime())) return ''
  return new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 16)
}
