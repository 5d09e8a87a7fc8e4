import { chooseEmbedder } from '../../app/knowledge.js'
import type { Contract } from '../../core/contract/contract.js'
import { INSTALL_COMMAND } from '../../knowledge/install-model.js'
import { isModelInstalled } from '../../knowledge/minilm.js'
import type { Finding } from './doctor.js'

const NAME = 'knowledge'

/** What search over the documents of a contract is done with; nothing where it names none. */
export function checkModel(contract: Contract, environment: NodeJS.ProcessEnv): readonly Finding[] {
  if ((contract.knowledge ?? []).length === 0) return []
  const embedder = chooseEmbedder(environment)
  switch (embedder.type) {
    case 'endpoint':
      return [makeOkFinding('words and the endpoint in PHASELOCK_EMBEDDINGS_URL')]
    case 'none':
      return [makeOkFinding('words only (PHASELOCK_EMBEDDINGS=none)')]
    case 'packaged':
      return [
        isModelInstalled(embedder.folder)
          ? makeOkFinding('words and the installed embedding model')
          : makeNotInstalledFinding(),
      ]
  }
}

function makeOkFinding(detail: string): Finding {
  return { name: NAME, status: 'ok', detail, remedy: '' }
}

function makeNotInstalledFinding(): Finding {
  return {
    name: NAME,
    status: 'warning',
    detail: 'the embedding model is not installed: search compares words only',
    remedy: `Run: ${INSTALL_COMMAND}`,
  }
}
