import { readFileSync, realpathSync, statSync } from 'node:fs'
import { isAbsolute, relative, resolve } from 'node:path'
import type { JsonObject } from '../../core/json.js'
import { toText } from '../client/answer-values.js'
import type { Client } from '../client/client.js'
import { encodeSegment } from '../client/client.js'
import { EXIT, Stop } from '../exit.js'
import { toPlainLine } from '../terminal/plain-text.js'

const FILE_BYTES_MAX = 1024 * 1024

/** What `--held-out FILE` holds: YAML or JSON. What is in it is never printed. */
export async function readHeldOutFile(file: string): Promise<JsonObject> {
  const { parse } = await import('yaml')
  let value: unknown
  try {
    if (statSync(file).size > FILE_BYTES_MAX) throw new Error(`it is larger than ${FILE_BYTES_MAX} bytes`)
    value = parse(readFileSync(file, 'utf8'), { maxAliasCount: 0, prettyErrors: false })
  } catch (error) {
    throw new Stop(EXIT.usage, `Cannot read ${file}: ${error instanceof Error ? error.message : 'unreadable'}`)
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as JsonObject
  throw new Stop(EXIT.usage, `${file} must hold \`examples:\`, a list of {criterion, run, stdin, expect}.`)
}

/** An agent can read every file of its work tree: a task whose held-out examples lie there is not kept. */
export async function refuseInsideTree(client: Client, added: JsonObject, file: string): Promise<void> {
  const way = relative(toText(added.workspace), realpathSync(resolve(file)))
  if (way === '' || way === '..' || way.startsWith('../') || isAbsolute(way)) return
  const reason = 'its held-out examples lie in the work tree'
  await client.post(`/tasks/${encodeSegment(toText(added.id))}/cancel`, { reason })
  throw new Stop(
    EXIT.usage,
    `${file} lies in the work tree, where the agent can read it: the task was cancelled.\nMove the file out of ${toText(added.workspace)} and add the task again.`,
  )
}

/** The held-out examples of a task, for `task show`. */
export function formatHeldOutLines(heldOut: JsonObject): readonly string[] {
  if (heldOut.count === undefined || heldOut.count === 0) return []
  const failures = heldOut.failures === 0 ? '' : `, failed ${toText(heldOut.failures)} times since an operator looked`
  const examples = Array.isArray(heldOut.examples) ? (heldOut.examples as readonly JsonObject[]) : []
  const failed = Array.isArray(heldOut.last_failure) ? (heldOut.last_failure as readonly JsonObject[]) : []
  return [
    '',
    `Held-out examples (${toText(heldOut.count)}, never shown to an agent${failures})`,
    ...examples.map((example, index) => {
      const difference = toText(failed[index]?.difference)
      const what = `${toText(example.criterion) || 'the task'}: ${toText(example.run)} -> ${JSON.stringify(example.expect)}`
      return `  ${toPlainLine(`${what}${difference === '' ? '' : `; last time: ${difference}`}`)}`
    }),
  ]
}
