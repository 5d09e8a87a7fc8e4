import { readFileSync, realpathSync, statSync } from 'node:fs'
import { isAbsolute, relative, resolve } from 'node:path'
import type { JsonObject } from '../../core/json.js'
import { textOf } from '../client/answer-values.js'
import type { Client } from '../client/client.js'
import { segment } from '../client/client.js'
import { EXIT, Stop } from '../exit.js'
import { plainLine } from '../terminal/plain-text.js'

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
  const way = relative(textOf(added.workspace), realpathSync(resolve(file)))
  if (way === '' || way === '..' || way.startsWith('../') || isAbsolute(way)) return
  const reason = 'its held-out examples lie in the work tree'
  await client.post(`/tasks/${segment(textOf(added.id))}/cancel`, { reason })
  throw new Stop(
    EXIT.usage,
    `${file} lies in the work tree, where the agent can read it: the task was cancelled.\nMove the file out of ${textOf(added.workspace)} and add the task again.`,
  )
}

/** The held-out examples of a task, for `task show`. */
export function heldOutLines(heldOut: JsonObject): readonly string[] {
  if (heldOut.count === undefined || heldOut.count === 0) return []
  const failures = heldOut.failures === 0 ? '' : `, failed ${textOf(heldOut.failures)} times since an operator looked`
  const examples = Array.isArray(heldOut.examples) ? (heldOut.examples as readonly JsonObject[]) : []
  const failed = Array.isArray(heldOut.last_failure) ? (heldOut.last_failure as readonly JsonObject[]) : []
  return [
    '',
    `Held-out examples (${textOf(heldOut.count)}, never shown to an agent${failures})`,
    ...examples.map((one, index) => {
      const difference = textOf(failed[index]?.difference)
      const what = `${textOf(one.criterion) || 'the task'}: ${textOf(one.run)} -> ${JSON.stringify(one.expect)}`
      return `  ${plainLine(`${what}${difference === '' ? '' : `; last time: ${difference}`}`)}`
    }),
  ]
}
