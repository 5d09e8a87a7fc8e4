import { type Command, Option } from 'commander'
import type { JsonObject } from '../../core/json.js'
import { listOf, toText } from '../client/answer-values.js'
import { Client, encodeSegment } from '../client/client.js'
import { addClientOptions, type ClientOptions, findServer } from '../client/connection.js'
import { EXIT, Stop } from '../exit.js'
import { formatExamples } from '../options.js'
import { renderVisitsDot, renderVisitsMermaid } from '../report/analyze-graph.js'
import { formatAnalysis } from '../report/analyze-text.js'
import { toPlainText } from '../terminal/plain-text.js'
import { print, printJson } from '../terminal/terminal.js'
import { readRun } from '../workflow/run-file.js'

const FORMATS = { text: formatAnalysis, mermaid: renderVisitsMermaid, dot: renderVisitsDot } as const

interface AnalyzeOptions extends ClientOptions {
  readonly format: keyof typeof FORMATS
}

/** `phaselock analyze` */
export function addAnalyzeCommand(program: Command): void {
  addClientOptions(
    program
      .command('analyze')
      .argument('[task]', 'default: the active run, else the newest task')
      .description('show what a run cost: time, tokens, commands, edits and commits per phase and visit'),
  )
    .addOption(new Option('--format <format>', 'text, or a graph').choices(Object.keys(FORMATS)).default('text'))
    .addHelpText(
      'after',
      formatExamples([
        ['phaselock analyze', 'the active run'],
        ['phaselock analyze task-1 --format mermaid', 'its way through the phases'],
      ]),
    )
    .action(async (task: string | undefined, options: AnalyzeOptions) => {
      const client = new Client(options)
      const id = task ?? (await findMeantTask(client, options))
      const metrics = await client.get(`/tasks/${encodeSegment(id)}/metrics`)
      const drawn = options.format === 'text' ? null : FORMATS[options.format](metrics)
      if (options.json === true) printJson(drawn === null ? metrics : { format: options.format, graph: drawn })
      else print(toPlainText(drawn ?? '') || formatAnalysis(metrics))
    })
}

/** The task of the active run, else the newest one. */
async function findMeantTask(client: Client, options: ClientOptions): Promise<string> {
  const { stateDir } = findServer(options)
  const run = stateDir === null ? null : readRun(stateDir)
  if (run !== null) return run.taskId
  const [newest] = listOf((await client.get('/tasks', { limit: 1 })).tasks) as readonly (JsonObject | undefined)[]
  if (newest !== undefined) return toText(newest.id)
  throw new Stop(EXIT.refused, 'There is no task to look at. Add one: phaselock task add "…"')
}
