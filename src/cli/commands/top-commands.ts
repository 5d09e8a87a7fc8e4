import { setTimeout as wait } from 'node:timers/promises'
import type { Command } from 'commander'
import type { JsonObject } from '../../core/json.js'
import { Client } from '../client/client.js'
import { addClientOptions, type ClientOptions } from '../client/connection.js'
import { EXIT, Stop } from '../exit.js'
import { formatExamples } from '../options.js'
import { getWidth, print, printJson } from '../terminal/terminal.js'
import { renderFrame } from '../terminal/top-frame.js'
import { readScreenSize, Screen } from '../terminal/top-screen.js'

const REFRESH_MS = 1000
const HELP = 'q quits'

/** `phaselock top` */
export function addTopCommand(program: Command): void {
  addClientOptions(program.command('top').description('watch active tasks live'))
    .option('--once', 'print once and exit')
    .addHelpText(
      'after',
      formatExamples([
        ['phaselock top', 'q or Ctrl-C quits'],
        ['phaselock top --once --json', 'for programs'],
      ]),
    )
    .action(async (options: ClientOptions & { readonly once?: boolean }) => {
      const isLive = process.stdout.isTTY === true && options.once !== true && options.json !== true
      if (isLive) return runLive(options)
      const activity = await new Client(options).get('/activity')
      if (options.json === true) printJson(activity)
      else print(renderFrame(activity, { columns: getWidth(), rows: Number.MAX_SAFE_INTEGER }).join('\n'))
    })
}

async function runLive(options: ClientOptions): Promise<void> {
  // Whoever may not look is told so on the screen they are on.
  let activity = await new Client(options).get('/activity')
  let note = HELP
  const screen = new Screen()
  const draw = (): void => screen.draw(renderFrame(activity, readScreenSize(), note))
  let isLeaving = false
  const left = screen.open(draw).then(() => {
    isLeaving = true
  })
  try {
    while (!isLeaving) {
      draw()
      await Promise.race([left, wait(REFRESH_MS)])
      if (isLeaving) break
      const next = await readNewest(options)
      note = next === null ? 'The server does not answer; trying again … (q quits)' : HELP
      activity = next ?? activity
    }
  } finally {
    screen.close()
  }
}

// A restarted server may listen elsewhere: it is looked for anew each time.
async function readNewest(options: ClientOptions): Promise<JsonObject | null> {
  try {
    return await new Client(options).get('/activity')
  } catch (error) {
    if (error instanceof Stop && (error.exit === EXIT.unreachable || isStopping(error))) return null
    throw error
  }
}

function isStopping(stop: Stop): boolean {
  return (stop.details.problem as JsonObject | undefined)?.code === 'shutting_down'
}
