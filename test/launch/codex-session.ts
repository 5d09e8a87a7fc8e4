import { codex } from '../participants/real-agents.js'
import type { Script } from '../real-agents/model.js'
import type { Call, Talk } from '../real-agents/talk.js'
import { CODE, own } from '../real-agents/work.js'
import { pressUntil, sleep, type Window } from './terminal.js'
import type { TriedCli } from './tried-cli.js'

const PATCH = `*** Begin Patch\n*** Add File: ${CODE}\n+export const sum = () => 12\n*** End Patch\n`

/** A model with a patch tool tries it first. */
export function withPatch(script: Script): Script {
  return (talk) =>
    talk.step === 0 ? { ...own('apply_patch', {}), text: PATCH } : script({ ...talk, step: talk.step - 1 })
}

/** A model that writes programs: its tools are functions in them. It tries to patch first. */
export function inCode(script: Script): Script {
  // An approval may take longer than Codex waits for a program by default.
  const write = (text: string): Call => ({ ...own('exec', {}), text: `// @exec: {"yield_time_ms": 200000}\n${text}` })
  return async (talk: Talk): Promise<Call | null> => {
    if (talk.step === 0)
      return write(`try { await tools.apply_patch(${JSON.stringify(PATCH)}) } catch (error) { text(String(error)) }`)
    const made = await script({ ...talk, step: talk.step - 1 })
    return made === null
      ? null
      : write(`text(JSON.stringify(await tools.mcp__phaselock__${made.name}(${JSON.stringify(made.input)})))`)
  }
}

/** The models that Codex is tried with: its default, and one whose tools are no functions of a program. */
export const CODEX_MODELS: readonly (readonly [string, (script: Script) => Script])[] = [
  ['gpt-6.1-sol', inCode],
  ['gpt-5.5', withPatch],
]

/** Codex with a model that it does not know, and which has no tools of its own that change anything. */
export const CODEX: TriedCli = {
  ...{ name: 'codex', title: 'codex', found: codex(), act: (script) => script, tellsErrors: false },
  ...{ running: 'codex.*mcp_servers.phaselock', leave: '/quit', answer: answerCodexForm },
  start: async (window, words) => {
    await window.enter(`phaselock codex ${words}`)
    await openRestricted(window)
  },
  answerLate: (window) => pressUntil(window, 'Escape', (screen) => !/esc to cancel/.test(screen)),
  clear: async (window) => {
    await window.enter('/clear')
    await sleep(3000)
  },
}

/** Codex with each of the models that it is tried with. */
export const CODEX_WITH_MODELS: readonly TriedCli[] = CODEX_MODELS.map(([model, act]) => ({
  ...CODEX,
  ...{ title: `codex with ${model}`, act, start: (window, words) => openCodex(window, words, model) },
}))

/** Opens a session with a model, and answers what Codex asks at the start. */
export async function openCodex(window: Window, words: string, model: string): Promise<void> {
  await window.enter(`phaselock codex ${words} -- --model ${model}`)
  await openRestricted(window)
  await keepModel(window)
}

/** Fills in the form of Codex as a person would. The comment comes first there; Enter keeps it, and does nothing if it is empty. */
export async function answerCodexForm(window: Window, decision: 'approve' | 'reject', comment = ''): Promise<void> {
  await window.shows(/Type your answer \(optional\)/)
  if (comment !== '') {
    window.type(comment)
    await sleep(300)
  }
  await pressUntil(window, comment === '' ? 'C-n' : 'Enter', (screen) => /1\. approve/.test(screen))
  if (decision === 'reject') await pressUntil(window, 'Down', (screen) => /› 2\. reject/.test(screen))
  await pressUntil(window, 'Enter', (screen) => !/enter to submit all/.test(screen))
}

/** Answers a dialog of Codex with its first choice. */
export async function openRestricted(window: Window): Promise<void> {
  await window.shows(/1\. Open restricted/)
  await pressUntil(window, 'Enter', (screen) => !screen.includes('1. Open restricted'))
}

/** Codex offers a newer model in the place of an older one. */
export async function keepModel(window: Window): Promise<void> {
  if (!(await window.shows(/Use existing model|May the agent go from/)).includes('Use existing model')) return
  await pressUntil(window, 'Down', (screen) => screen.includes('› 2. Use existing'))
  await pressUntil(window, 'Enter', (screen) => !screen.includes('Use existing model'))
}
