import type { Contract } from '../../core/contract/contract.js'
import { runUntilInterrupted, showProgress } from './progress.js'
import { type Trial, type TrialPlace, Trials, type TriedCommand } from './trial.js'

/** Why there is no sandbox, and what to do. */
export interface MissingSandbox {
  readonly missing: string
  readonly remedy: string
}

/**
 * Opens the sandbox, does the work in it and closes it. A signal ends what runs and says how far it got. `otherwise` is
 * the result where there is no sandbox.
 */
export function runTrials<T extends object>(
  place: Omit<TrialPlace, 'signal'>,
  work: (trials: Trials) => Promise<T>,
  otherwise: (sandbox: MissingSandbox) => T,
): Promise<T> {
  let progress = (): string => ''
  return runUntilInterrupted(
    async (signal) => {
      const trials = await Trials.open({ ...place, signal })
      if ('missing' in trials) return otherwise(trials)
      progress = () => trials.describeProgress()
      try {
        return await work(trials)
      } finally {
        await trials.close()
      }
    },
    () => progress(),
  )
}

/** Runs one command and shows on a terminal for how long, and since when it prints nothing. */
export function showTrial(
  trials: Trials,
  contract: Contract,
  tried: TriedCommand & { readonly isQuiet: boolean },
): Promise<Trial> {
  const { run, timeoutSeconds } = tried.command
  const label = `Running \`${run}\` in the sandbox (at most ${timeoutSeconds} s)`
  return showProgress(
    label,
    tried.isQuiet,
    () => trials.run(contract, tried),
    () => trials.describeQuiet(),
  )
}
