import { leaveOutGoTests, listAllGoErrors } from './leave-out-go-tests.js'
import { runInView, type ShownPlace, type StartedRun } from './run-in-view.js'
import { openServices } from './services.js'

/** How often a run is continued: each time at least one more test is left out. */
const CONTINUED_MAX = 10

type About = Parameters<typeof runInView>[1]

async function runAgain(place: ShownPlace, about: About, again: { line: string; durationMs: number }) {
  const { command: before } = about
  const timeoutSeconds = Math.max(1, before.timeoutSeconds - Math.floor(again.durationMs / 1000))
  const command = { ...before, timeoutSeconds }
  const services = await openServices(command.services ?? {}, place.confinement.provider !== 'none')
  return runInView(place, { line: again.line, command, services })
}

/** The compiler of Go stops after ten errors: the files whose errors it did not list are unknown then. */
async function listAllErrors(place: ShownPlace, about: About, { run, problem, goEvents }: StartedRun) {
  const { names, isCut } = goEvents.findUncompiled(run.stderr)
  const line = isCut ? listAllGoErrors(about.line, names) : null
  if (line === null || problem !== null || run.stopped !== null) return { run, problem }
  const next = await runAgain(place, about, { line, durationMs: run.durationMs })
  const durationMs = run.durationMs + next.run.durationMs
  if (next.problem !== null || next.run.stopped !== null) return { run: { ...run, durationMs }, problem }
  goEvents.takeErrors(next.goEvents)
  // Before Go 1.24 the compiler's errors are no events.
  return { run: { ...run, stderr: next.run.stderr, durationMs }, problem }
}

/**
 * Runs a command. A Go test that panics or exits ends its test program, and the tests after it do not run: the program
 * is then run again without it. Results are only added; what ended the program stays failed.
 */
export async function runPastPanics(place: ShownPlace, about: About): Promise<StartedRun> {
  const first = await runInView(place, about)
  const { goEvents } = first
  let { run, problem } = await listAllErrors(place, about, first)
  for (let count = 0; count < CONTINUED_MAX && problem === null && run.stopped === null; count += 1) {
    const ended = goEvents.findEnded()
    const line = ended === null ? null : leaveOutGoTests(about.line, ended)
    if (ended === null || line === null) break
    const next = await runAgain(place, about, { line, durationMs: run.durationMs })
    problem = next.problem
    run = { ...run, stopped: next.run.stopped, durationMs: run.durationMs + next.run.durationMs }
    if (!goEvents.addContinued(ended.name, next.goEvents)) break
  }
  return { ...first, run, problem }
}
