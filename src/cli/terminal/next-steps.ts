import { existsSync } from 'node:fs'
import { findProgram } from '../../confinement/probes.js'
import { AGENT_CLIS, type AgentCli, type AgentEntry } from '../../core/contract/agent-programs.js'
import { plainLine } from '../../core/plain-text.js'
import { findLocalStateDir } from '../client/connection.js'
import { findProgramAnywhere, quoteShellWord } from '../program-name.js'

const TASK = '"Add a health endpoint"'
const LABEL_WIDTH = 25

/** One next step: its purpose, its command, and notes. */
export interface Step {
  readonly label: string
  readonly command: string
  readonly notes?: readonly string[]
}

interface Situation {
  readonly program: string
  /** The agents that the contract names. */
  readonly agents: ReadonlyMap<string, AgentEntry>
  readonly environment: NodeJS.ProcessEnv
  /** The options that lead to the server from here, if needed. */
  readonly where: string
  /** Whether no server runs yet: agent CLIs start it themselves, the walk by hand does not. */
  readonly isDown?: boolean
}

/** How to start an agent, and what to do then. Each command works as printed. */
export function listAgentSteps(at: Situation): readonly [Step, Step, Step] {
  return [
    makeWorkStep(at),
    { label: 'Approve what it asks', command: `${at.program} approve${at.where}` },
    { label: 'See what happens', command: `${at.program} status${at.where}` },
  ]
}

/** The same on the sample project, with the way to a repository of one's own. */
export function listSampleSteps(at: Situation): readonly Step[] {
  const [work, approve] = listAgentSteps(at)
  return [
    work,
    approve,
    { label: 'Your own repository', command: `cd YOUR-REPOSITORY && ${findProgramAnywhere()} init` },
  ]
}

/** Numbered, the commands below each other. */
export function formatStepLines(steps: readonly Step[]): readonly string[] {
  return steps.flatMap(({ label, command, notes = [] }, index) => [
    `  ${`${index + 1}. ${label}:`.padEnd(LABEL_WIDTH)} ${command}`,
    ...notes.map((note) => `     ${note}`),
  ])
}

/** The option that leads a command run here to this server; empty if it finds the server by itself. */
export function formatStateDirOption(stateDir: string): string {
  return findLocalStateDir() === stateDir ? '' : ` --state-dir ${quoteShellWord(stateDir)}`
}

function makeWorkStep({ program, agents, environment, where, isDown = false }: Situation): Step {
  const label = 'Put an agent to work'
  const up = isDown ? `${program} up && ` : ''
  const own = [...agents].find(([, entry]) => isInstalled(entry.harness, entry.command))
  if (own !== undefined) {
    const [name, { harness }] = own
    const command = `${up}${program} run${where} ${quoteShellWord(plainLine(name))} ${TASK}`
    return { label, command, notes: listKeyNotes(harness, environment) }
  }
  const found = CLI_NAMES.find((name) => isInstalled(name, null))
  if (found !== undefined)
    return {
      label,
      command: `${program} ${AGENT_CLIS[found].program}${where} ${TASK}`,
      notes: [
        `This starts the server if none runs, opens ${AGENT_CLIS[found].program} in your terminal with your own login,`,
        'and asks you there for approvals. Without a terminal:',
        `  ${up}${program} run${where} ${found} ${TASK}`,
        ...listKeyNotes(found, environment),
      ],
    }
  return {
    label: 'Try a task by hand',
    command: `${up}${program} start${where} --task ${TASK}`,
    notes: [
      'No agent CLI was found. To put an agent to work, install claude, codex, gemini or',
      `opencode (npm install -g @anthropic-ai/claude-code), then: ${program} claude${where} ${TASK}`,
      'A program of your own is named in the contract, and started with `run`:',
      `  agents: {coder: {harness: command, command: /path/to/program}}`,
    ],
  }
}

const CLI_NAMES = Object.keys(AGENT_CLIS) as readonly AgentCli[]

function isInstalled(harness: AgentEntry['harness'], command: string | null): boolean {
  const name = command ?? (harness === 'command' ? '' : AGENT_CLIS[harness].program)
  return name.includes('/') ? existsSync(name) : name !== '' && findProgram(name) !== null
}

// For `run` the server adds the key of the model: a login in the agent CLI itself does not count.
function listKeyNotes(harness: AgentEntry['harness'], environment: NodeJS.ProcessEnv): readonly string[] {
  const keys: readonly string[] = harness === 'command' ? [] : AGENT_CLIS[harness].keys
  const [first] = keys
  if (first === undefined || keys.some((name) => (environment[name] ?? '') !== '')) return []
  return [`The server must be started with ${first} set: it is not set here.`]
}
