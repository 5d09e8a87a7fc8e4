import type { ContractDocument } from '../document.js'
import { parsePlaceholders } from '../prompt.js'
import type { Reading } from '../read/reading.js'
import { listArtifactsUpTo } from './check-gates.js'

const KNOWN = '{{task.title}}, {{task.description}}, {{artifacts.TYPE.FIELD}}, {{guide:NAME}}, {{?OPTIONAL}}'

/** Prompts: every placeholder can be filled at some point. */
export function checkPrompts(reading: Reading, document: ContractDocument): void {
  for (const phase of document.phases) {
    const available = listArtifactsUpTo(document, phase)
    for (const placeholder of parsePlaceholders(phase.prompt)) {
      const problem =
        placeholder.kind === 'artifact' && !available.has(placeholder.type)
          ? `No phase up to '${phase.id}' requires the artifact '${placeholder.type}'.`
          : placeholder.kind === 'unknown'
            ? `The placeholder '{{${placeholder.text}}}' is not known.`
            : placeholder.kind === 'bare'
              ? `The placeholder '{{${placeholder.name}}}' is not known.`
              : null
      if (problem === null) continue
      const remedy = `Known placeholders: ${KNOWN}.`
      reading.reportAt('contract.unresolvable_placeholder', [phase, 'prompt'], problem, remedy)
    }
  }
}
