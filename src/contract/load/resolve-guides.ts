import { join } from 'node:path/posix'
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
      const { name } = placeholder
      const path = join(folder, `${name}.md`)
      const file = await files(path)
      if (file.status === 'text' && file.text.length <= GUIDE_CHARS_MAX) document.guides[name] = file.text
      else {
        const remedy = `Add ${path} (at most 256 KiB), or correct the name.`
        reading.reportAt('contract.missing_guide', [phase, 'prompt'], `The guide '${name}' does not exist.`, remedy)
      }
    }
  }
}
