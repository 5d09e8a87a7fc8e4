import { leaveOutGoTests } from './leave-out-go-tests.js'
import { runInView, type ShownPlace, type StartedRun } from './run-in-view.js'
import { openServices } from './services.js'

/** How often a run is continued: each time at least one more test is left out. */
const CONTINUED_MAX = 10

/**
 * Runs a command. A Go test that panics or exits ends its test program, and the tests after it do not run: the program
 * is then run again without it. Results are only added; what ended the program stays failed.
 */
export async function runPastPanics(place: ShownPlace, about: Parameters<typeof runInView>[1]): Promise<StartedRun> {
  const first = await runInView(place, about)
  const { goEvents } = first
  let { run, problem } = first
  for (let count = 0; count < CONTINUED_MAX && problem === null && run.stopped === null; count += 1) {
    const ended = goEvents.findEnded()
    const line = ended === null ? null : leaveOutGoTests(about.line, ended)
    if (ended === null || line === null) break
    const timeoutSeconds = Math.max(1, about.command.timeoutSeconds - Math.floor(run.durationMs / 1000))
    const command = { ...about.command, timeoutSeconds }
    const services = await openServices(command.services ?? {}, place.confinement.provider !== 'none')
    const next = await runInView(place, { line, command, services })
    problem = next.problem
    run = { ...run, stopped: next.run.stopped, durationMs: run.durationMs + next.run.durationMs }
    if (!goEvents.addContinued(ended.name, next.goEvents)) break
  }
  return { ...first, run, problem }
}
