import type { CallToolResult, Tool } from '@modelcontextprotocol/client'
import type { Json, JsonObject } from '../../core/json.js'
import { failTool, type ToolOutcome } from '../tool-place.js'
import { UpstreamFailure } from './failure.js'
import type { Mask } from './mask.js'
import type { ListedTool } from './pins.js'

const RESULT_BYTES_MAX = 256 * 1024
const DEFINITION_BYTES_MAX = 64 * 1024
const OMITTED_MAX = 100
const LABEL_CHARS_MAX = 200
const ERROR_CHARS_MAX = 2000

/** The usable tools of a listing. A name listed twice could be two tools, so the whole listing fails. */
export function readListing(server: string, tools: readonly Tool[], mask: Mask): readonly ListedTool[] {
  const listed = tools.map((tool) => readTool(server, tool, mask))
  const names = listed.map(({ name }) => name)
  const twice = names.find((name, index) => names.indexOf(name) !== index)
  if (twice !== undefined) throw new UpstreamFailure(`lists the tool ${JSON.stringify(cutLabel(twice))} twice`, true)
  return listed.filter((tool) => Buffer.byteLength(JSON.stringify(tool)) <= DEFINITION_BYTES_MAX)
}

function readTool(server: string, tool: Tool, mask: Mask): ListedTool {
  const { outputSchema, annotations } = tool
  return {
    server,
    name: tool.name,
    description: mask.text(tool.description ?? ''),
    inputSchema: mask.json(tool.inputSchema) as JsonObject,
    ...(outputSchema === undefined ? {} : { outputSchema: mask.json(outputSchema) as JsonObject }),
    ...(annotations === undefined ? {} : { annotations: mask.json(annotations) as JsonObject }),
  }
}

/** The answer of a tool: its text, its structured content, and the names of other parts. */
export function readAnswer(tool: string, answer: CallToolResult, mask: Mask): ToolOutcome {
  const read = readContent(answer, mask)
  if (answer.isError === true) {
    const said = read.text === '' ? 'it did not say why' : read.text.slice(0, ERROR_CHARS_MAX)
    return failTool(`${tool} failed: ${said}`)
  }
  const { text: content, isCut } = clipText(read.text, RESULT_BYTES_MAX)
  const room = RESULT_BYTES_MAX - Buffer.byteLength(content)
  const structured = answer.structuredContent === undefined ? null : mask.json(answer.structuredContent)
  const bytes = structured === null ? 0 : Buffer.byteLength(JSON.stringify(structured))
  const isLeftOut = bytes > room
  const omitted: JsonObject[] = isLeftOut ? [{ type: 'structured_content', bytes }, ...read.omitted] : [...read.omitted]
  const result: Record<string, Json> = { status: 'success', content }
  if (structured !== null && !isLeftOut) result.structured_content = structured
  if (omitted.length > 0) result.omitted = omitted.slice(0, OMITTED_MAX)
  result.truncated = isCut || isLeftOut || omitted.length > OMITTED_MAX
  return { ok: true, result, changes: [] }
}

interface Content {
  readonly text: string
  readonly omitted: readonly JsonObject[]
}

function readContent(answer: CallToolResult, mask: Mask): Content {
  const texts: string[] = []
  const omitted: JsonObject[] = []
  for (const item of answer.content) {
    if (item.type === 'text') texts.push(mask.text(item.text))
    else if (item.type === 'resource' && 'text' in item.resource) texts.push(mask.text(item.resource.text))
    else omitted.push(describeItem(item, mask))
  }
  return { text: texts.join('\n'), omitted }
}

type Item = Exclude<CallToolResult['content'][number], { type: 'text' }>

/** Its kind, type and size; an agent cannot read the content itself here. */
function describeItem(item: Item, mask: Mask): JsonObject {
  const shown = (text: string): string => cutLabel(mask.text(text))
  switch (item.type) {
    case 'image':
    case 'audio':
      return { type: item.type, mime_type: shown(item.mimeType), bytes: countBytes(item.data) }
    case 'resource_link':
      return { type: item.type, name: shown(item.name), uri: shown(item.uri) }
    case 'resource':
      return {
        type: item.type,
        uri: shown(item.resource.uri),
        bytes: 'blob' in item.resource ? countBytes(item.resource.blob) : 0,
      }
  }
}

function countBytes(base64: string): number {
  return Math.floor((base64.length * 3) / 4)
}

function cutLabel(text: string): string {
  return text.slice(0, LABEL_CHARS_MAX)
}

function clipText(text: string, bytesMax: number): { readonly text: string; readonly isCut: boolean } {
  const bytes = Buffer.from(text)
  if (bytes.length <= bytesMax) return { text, isCut: false }
  // Not in the middle of a character: the bytes after its first all begin with 10.
  let end = bytesMax
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1
  return { text: bytes.subarray(0, end).toString('utf8'), isCut: true }
}
