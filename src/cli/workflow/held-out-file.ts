import { readFileSync, realpathSync, statSync } from 'node:fs'
import { isAbsolute, relative, resolve } from 'node:path'
import type { AddedTask, HeldOut } from 'phaselock/sdk'
import { isObject, type JsonObject } from '../../core/json.js'
import { plainLine } from '../../core/plain-text.js'
import type { Client } from '../client/client.js'
import { EXIT, Stop } from '../exit.js'

const FILE_BYTES_MAX = 1024 * 1024

/** The content of `--held-out FILE`: YAML or JSON. It is never printed. */
export async function readHeldOutFile(file: string): Promise<JsonObject> {
  const { parse } = await import('yaml')
  let value: unknown
  try {
    if (statSync(file).size > FILE_BYTES_MAX) throw new Error(`it is larger than ${FILE_BYTES_MAX} bytes`)
    value = parse(readFileSync(file, 'utf8'), { maxAliasCount: 0, prettyErrors: false })
  } catch (error) {
    throw new Stop(EXIT.usage, `Cannot read ${file}: ${error instanceof Error ? error.message : 'unreadable'}`)
  }
  if (isObject(value)) return value
  throw new Stop(EXIT.usage, `${file} must hold \`examples:\`, a list of {criterion, run, stdin, expect}.`)
}

/** An agent can read every file of its work tree: a task whose held-out examples are there is cancelled. */
export async function refuseInsideTree(client: Client, { id, workspace }: AddedTask, file: string): Promise<void> {
  const way = relative(workspace, realpathSync(resolve(file)))
  if (way === '' || way === '..' || way.startsWith('../') || isAbsolute(way)) return
  const reason = 'its held-out examples are in the work tree'
  await client.cancelTask(id, { reason })
  throw new Stop(
    EXIT.usage,
    `${file} is in the work tree, where the agent can read it: the task was cancelled.\nMove the file out of ${workspace} and add the task again.`,
  )
}

/** The held-out examples of a task, for `task show`. */
export function formatHeldOutLines({ count, failures, examples, last_failure }: HeldOut): readonly string[] {
  if (count === 0) return []
  const often = failures === 0 ? '' : `, failed ${failures} times since an operator looked`
  return [
    '',
    `Held-out examples (${count}, never shown to an agent${often})`,
    ...examples.map((example, index) => {
      const difference = last_failure?.[index]?.difference ?? ''
      const what = `${example.criterion || 'the task'}: ${example.run} -> ${JSON.stringify(example.expect)}`
      return `  ${plainLine(`${what}${difference === '' ? '' : `; last time: ${difference}`}`)}`
    }),
  ]
}
