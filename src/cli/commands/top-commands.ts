import { setTimeout as wait } from 'node:timers/promises'
import type { Activity } from 'phaselock/sdk'
import { type CliCommand, serverCommand } from '../cli-command.js'
import { isAway, openClient } from '../client/client.js'
import type { ClientOptions } from '../client/connection.js'
import { getWidth, show } from '../terminal/terminal.js'
import { renderFrame } from '../terminal/top-frame.js'
import { readScreenSize, Screen } from '../terminal/top-screen.js'

const REFRESH_MS = 1000
const HELP = 'q quits'

/** `phaselock top` */
export function addTopCommand(program: CliCommand): void {
  serverCommand(program, 'top', 'watch active tasks live')
    .option('--once', 'print once and exit')
    .examples(['phaselock top', 'q or Ctrl-C quits'], ['phaselock top --once --json', 'for programs'])
    .action(async (options: ClientOptions & { readonly once?: boolean }) => {
      if (process.stdout.isTTY === true && options.once !== true && options.json !== true) return runLive(options)
      const activity = await readActivity(options)
      const size = { columns: getWidth(), rows: Number.MAX_SAFE_INTEGER }
      show(options, activity, renderFrame(activity, size).join('\n'))
    })
}

// A restarted server may listen elsewhere: it is looked for each time.
async function readActivity(options: ClientOptions): Promise<Activity> {
  return (await openClient(options)).activity()
}

async function runLive(options: ClientOptions): Promise<void> {
  // A user without permission is told so on the current screen.
  let activity = await readActivity(options)
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

async function readNewest(options: ClientOptions): Promise<Activity | null> {
  try {
    return await readActivity(options)
  } catch (error) {
    if (isAway(error)) return null
    throw error
  }
}
