import { type ReactNode, useMemo } from 'react'
import { keys } from '../../api/keys.js'
import { useRead } from '../../api/use-api.js'
import { ArtifactView, type Json } from '../../ui/artifact/artifact-view.js'
import { Icon } from '../../ui/icon.js'
import { Section } from '../../ui/layout-parts.js'
import { Grade } from '../../ui/marks.js'
import { EmptyState, Loaded } from '../../ui/states.js'
import { PlainText } from '../../ui/text/plain-text.js'
import { formatCount, Time } from '../../ui/time.js'
import { Disclosure } from './disclosure.js'
import {
  type ArtifactVersion,
  compareRuns,
  listArtifacts,
  listRuns,
  type RunRecord,
  type RunRef,
} from './observed-runs.js'
import type { TaskEvent } from './task-types.js'
import { TestList } from './test-list.js'

/** What the task can show for itself: artifacts by version, and the runs that Phaselock observed. */
export function EvidenceTab({ taskId, events }: { readonly taskId: string; readonly events: readonly TaskEvent[] }) {
  const artifacts = useMemo(() => listArtifacts(events).toReversed(), [events])
  const runs = useMemo(() => listRuns(events), [events])
  if (artifacts.length === 0 && runs.length === 0)
    return (
      <EmptyState icon="file" title="No evidence yet">
        Artifacts appear when the agent asks to leave a phase, observed runs when a gate needs them.
      </EmptyState>
    )
  return (
    <div className="evidence">
      <Section title="Artifacts" count={artifacts.length}>
        <div className="panel">
          {artifacts.map((artifact) => (
            <ArtifactRow key={`${artifact.type} ${artifact.version}`} taskId={taskId} artifact={artifact} />
          ))}
          {artifacts.length === 0 && <p className="pad muted">None was handed in.</p>}
        </div>
      </Section>
      <Section title="Observed runs" count={runs.length}>
        <div className="panel">
          {runs.toReversed().map((run) => (
            <RunRow key={run.sha256} taskId={taskId} run={run} before={findBefore(runs, run)} />
          ))}
          {runs.length === 0 && <p className="pad muted">Phaselock ran nothing for this task yet.</p>}
        </div>
      </Section>
    </div>
  )
}

interface Content<T> {
  readonly content: T
}

// A content never changes: its address is its hash.
function useContent<T>(taskId: string, sha256: string | null) {
  return useRead<Content<T>>(keys.audit('content', taskId, sha256), '/tasks/{id}/contents/{hash}', {
    path: { id: taskId, hash: sha256 ?? '' },
    enabled: sha256 !== null,
  })
}

function ArtifactRow({ taskId, artifact }: { readonly taskId: string; readonly artifact: ArtifactVersion }): ReactNode {
  return (
    <Disclosure
      summary={
        <>
          <Icon name="file" />
          <span className="mono strong">
            <PlainText text={artifact.type} charsMax={64} />
          </span>
          <span className="muted">
            version {artifact.version}, {artifact.phase}, {formatCount(artifact.bytes)} bytes, event {artifact.seq}
          </span>
          <span className="row-end">
            <Time at={artifact.at} /> <Grade grade={artifact.grade} />
          </span>
        </>
      }
    >
      <ArtifactContent taskId={taskId} sha256={artifact.sha256} />
    </Disclosure>
  )
}

function ArtifactContent({ taskId, sha256 }: { readonly taskId: string; readonly sha256: string }): ReactNode {
  const query = useContent<Json>(taskId, sha256)
  return (
    <Loaded what="The artifact" query={query} rows={2}>
      {({ content }) => <ArtifactView content={content} />}
    </Loaded>
  )
}

interface RunRowProps {
  readonly taskId: string
  readonly run: RunRef
  readonly before: RunRef | null
}

function RunRow({ taskId, run, before }: RunRowProps): ReactNode {
  const isBad = run.problem !== null || (run.failed ?? 0) > 0
  return (
    <Disclosure
      summary={
        <>
          <Icon name="test" />
          <span className="mono strong">
            <PlainText text={run.name} charsMax={64} />
          </span>
          <span className={isBad ? 'bad' : 'ok'}>{describeRun(run)}</span>
          <span className="muted">
            <PlainText text={run.command} charsMax={80} />, {run.phase}, event {run.seq}
          </span>
          <span className="row-end">
            <Time at={run.at} /> <Grade grade={run.grade} />
          </span>
        </>
      }
    >
      <RunContent taskId={taskId} run={run} before={before} />
    </Disclosure>
  )
}

function RunContent({ taskId, run, before }: RunRowProps): ReactNode {
  const record = useContent<RunRecord>(taskId, run.sha256)
  const earlier = useContent<RunRecord>(taskId, before?.sha256 ?? null)
  return (
    <Loaded what="The run" query={record} rows={2}>
      {({ content }) => (
        <>
          {run.problem !== null && (
            <p className="bad">
              <PlainText text={run.problem} charsMax={1000} />
            </p>
          )}
          <TestList
            tests={compareRuns(content, earlier.data?.content ?? null)}
            total={content.tests_total ?? content.tests.length}
            against={before?.name === 'baseline' ? 'the start' : before === null ? null : `event ${before.seq}`}
          />
          {(content.load_failures ?? []).map(({ file, message }) => (
            <pre className="raw" key={`${file} ${message}`}>
              <PlainText text={`${file ?? 'A file'} did not load: ${message}`} charsMax={2000} />
            </pre>
          ))}
          {content.last_lines !== undefined && (
            <pre className="raw">
              <PlainText text={content.last_lines.join('\n')} />
            </pre>
          )}
        </>
      )}
    </Loaded>
  )
}

function describeRun({ passed, failed, skipped, problem }: RunRef): string {
  if (passed === null) return problem === null ? 'no counts' : 'could not be read'
  return `${passed} pass, ${failed ?? 0} fail${(skipped ?? 0) > 0 ? `, ${skipped} skipped` : ''}`
}

/** The run that this one is compared with: the one before it of the same command, or the baseline. */
function findBefore(runs: readonly RunRef[], run: RunRef): RunRef | null {
  const comparable = runs.filter(({ name }) => name === run.name || (run.name === 'tests' && name === 'baseline'))
  return comparable[comparable.indexOf(run) - 1] ?? null
}
