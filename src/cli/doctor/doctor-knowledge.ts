import { chooseEmbedder } from '../../app/knowledge.js'
import type { Contract } from '../../core/contract/contract.js'
import { INSTALL_COMMAND } from '../../knowledge/install-model.js'
import { isModelInstalled } from '../../knowledge/minilm.js'
import { type Finding, ok, warning } from '../finding.js'

const NAME = 'knowledge'

/** How documents of a contract are searched; nothing if it names none. */
export function checkModel(contract: Contract, environment: NodeJS.ProcessEnv): readonly Finding[] {
  if ((contract.knowledge ?? []).length === 0) return []
  const embedder = chooseEmbedder(environment)
  switch (embedder.type) {
    case 'endpoint':
      return [ok(NAME, 'words and the endpoint in PHASELOCK_EMBEDDINGS_URL')]
    case 'none':
      return [ok(NAME, 'words only (PHASELOCK_EMBEDDINGS=none)')]
    case 'packaged':
      return [isModelInstalled(embedder.folder) ? ok(NAME, 'words and the installed embedding model') : NOT_INSTALLED]
  }
}

const NOT_INSTALLED = warning(
  NAME,
  'the embedding model is not installed: search compares words only',
  `Run: ${INSTALL_COMMAND}`,
)
