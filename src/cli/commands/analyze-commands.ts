import { Option } from 'commander'
import { plainText } from '../../core/plain-text.js'
import { type CliCommand, serverCommand } from '../cli-command.js'
import type { Client } from '../client/client.js'
import { type ClientOptions, findServer } from '../client/connection.js'
import { EXIT, Stop } from '../exit.js'
import { renderVisitsDot, renderVisitsMermaid } from '../report/analyze-graph.js'
import { formatAnalysis } from '../report/analyze-text.js'
import { show } from '../terminal/terminal.js'
import { readRun } from '../workflow/run-file.js'

const FORMATS = { text: formatAnalysis, mermaid: renderVisitsMermaid, dot: renderVisitsDot } as const

interface AnalyzeOptions extends ClientOptions {
  readonly format: keyof typeof FORMATS
}

/** `phaselock analyze` */
export function addAnalyzeCommand(program: CliCommand): void {
  serverCommand(
    program,
    'analyze',
    'show what a run cost: time, tokens, commands, edits and commits per phase and visit',
  )
    .argument('[task]', 'default: the active run, else the newest task')
    .addOption(new Option('--format <format>', 'text, or a graph').choices(Object.keys(FORMATS)).default('text'))
    .examples(
      ['phaselock analyze', 'the active run'],
      ['phaselock analyze task-1 --format mermaid', 'the path through the phases'],
    )
    .asks(async (client, options: AnalyzeOptions, task: string | undefined) => {
      const metrics = await client.metrics(task ?? (await findMeantTask(client, options)))
      const drawn = options.format === 'text' ? null : FORMATS[options.format](metrics)
      const answer = drawn === null ? metrics : { format: options.format, graph: drawn }
      show(options, answer, plainText(drawn) || formatAnalysis(metrics))
    })
}

/** The task of the active run, else the newest one. */
async function findMeantTask(client: Client, options: ClientOptions): Promise<string> {
  const { stateDir } = findServer(options)
  const run = stateDir === null ? null : readRun(stateDir)
  if (run !== null) return run.taskId
  const [newest] = (await client.tasks({ limit: 1 })).tasks
  if (newest !== undefined) return newest.id
  throw new Stop(EXIT.refused, 'There is no task to look at. Add one: phaselock task add "…"')
}
