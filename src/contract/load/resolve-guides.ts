import { join } from 'node:path/posix'
import type { ContractDocument } from '../document.js'
import { convertBareNames, parsePlaceholders } from '../prompt.js'
import type { ReadContract } from '../read/read-contract.js'
import type { Reading } from '../read/reading.js'
import type { FileLookup } from './bounded-files.js'

const GUIDES_DIR_DEFAULT = 'guides'
const GUIDE_CHARS_MAX = 256 * 1024

/** Puts the text of every guide that a prompt names into the document. */
export async function resolveGuides(reading: Reading, read: ReadContract, files: FileLookup): Promise<void> {
  const { document } = read
  if (read.isNodes) for (const phase of document.phases) phase.prompt = convertBareNames(phase.prompt)
  const folder = read.guidesDir ?? GUIDES_DIR_DEFAULT
  for (const phase of document.phases) {
    for (const placeholder of parsePlaceholders(phase.prompt)) {
      if (placeholder.kind !== 'guide' || Object.hasOwn(document.guides, placeholder.name)) continue
      const path = join(folder, `${placeholder.name}.md`)
      const file = await files(path)
      if (file.status === 'text' && file.text.length <= GUIDE_CHARS_MAX) document.guides[placeholder.name] = file.text
      else reportMissing(reading, document, phase.id, { name: placeholder.name, path })
    }
  }
}

function reportMissing(
  reading: Reading,
  document: ContractDocument,
  phaseId: string,
  guide: { name: string; path: string },
): void {
  const phase = document.phases.find((candidate) => candidate.id === phaseId) ?? document
  reading.report({
    ...reading.locateReport(phase, 'prompt', 'contract.missing_guide'),
    message: `The guide '${guide.name}' is not there.`,
    remedy: `Add ${guide.path} (at most 256 KiB), or correct the name.`,
  })
}
