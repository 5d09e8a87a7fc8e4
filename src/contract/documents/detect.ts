import { parseMarkdown } from './markdown.js'
import { isHeading, parsePhaseHeading } from './sections.js'

const MARKDOWN_FILE = /\.(?:md|markdown)$/i

// Every YAML contract has one of these keys at its left edge, and `## Phase 1` in it is a comment.
const YAML_CONTRACT = /^["']?(?:phases|nodes|extends)["']?\s*:/m
const HEAD = /^---\r?\n[\s\S]*?\r?\n---\r?\n/

/** Whether a text is a workflow in Markdown. The file name decides if it is conclusive. */
export function isWorkflowText(text: string, file: string): boolean {
  if (MARKDOWN_FILE.test(file)) return true
  if (/\.(?:ya?ml|json)$/i.test(file) || /^\s*\{/.test(text) || YAML_CONTRACT.test(text.replace(HEAD, ''))) return false
  if (!/^##\s+phase\s+\d/im.test(text)) return false
  const parsed = parseMarkdown(text)
  return (
    parsed.ok &&
    parsed.blocks.some((block) => isHeading(block) && block.level === 2 && parsePhaseHeading(block.text) !== null)
  )
}
