import { keys } from '../../api/keys.js'
import { useRead } from '../../api/use-api.js'
import { EmptyState, Loaded, Note } from '../../ui/states.js'
import { PlainText } from '../../ui/text/plain-text.js'
import type { Task } from './task-types.js'

interface Prompt {
  readonly kind: 'prompt' | 'interrupt'
  readonly text: string
  readonly phase: string
  readonly allowed_tools: readonly string[]
  readonly next_step: string
}

/** What the agent is told now. */
export function PromptTab({ task }: { readonly task: Task }) {
  const query = useRead<Prompt>(keys.task(task.id, 'prompt'), '/tasks/{id}/prompt', { path: { id: task.id } })
  if (task.status === 'completed' || task.status === 'cancelled')
    return (
      <EmptyState icon="ok-circle" title={`The task is ${task.status}`}>
        Its agent is told nothing any more.
      </EmptyState>
    )
  return (
    <Loaded what="The prompt" query={query}>
      {(prompt) => (
        <div className="prompt">
          {prompt.kind === 'interrupt' && (
            <Note tone="parked" icon="pause" title="The agent is interrupted">
              It gets this text in place of the prompt until it acknowledges it.
            </Note>
          )}
          <p className="soft">
            <b className="strong">Next step:</b> <PlainText text={prompt.next_step} charsMax={2000} />
          </p>
          <div className="panel">
            <header className="panel__head">
              <h3 className="h3">
                {prompt.kind === 'interrupt' ? 'Interrupt' : 'Prompt'} of <span className="phase">{prompt.phase}</span>
              </h3>
            </header>
            <div className="panel__body">
              {prompt.text === '' ? (
                <p className="muted">This phase has no prompt.</p>
              ) : (
                <pre className="prompt__text">
                  <PlainText text={prompt.text} />
                </pre>
              )}
            </div>
          </div>
          <h3 className="h3">Tools that {prompt.phase} offers</h3>
          <ul className="tooltags">
            {prompt.allowed_tools.map((tool) => (
              <li key={tool}>
                <code className="in">{tool}</code>
              </li>
            ))}
            {prompt.allowed_tools.length === 0 && <li className="muted">none</li>}
          </ul>
        </div>
      )}
    </Loaded>
  )
}
