import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect } from 'vitest'
import { type Ended, Place } from '../cli/program.js'
import { type Files, git, makeRepository } from '../e2e/projects.js'
import { startUp } from '../e2e/start-up.js'
import { implementation, testFiles, Walker } from '../e2e/walker.js'
import type { Sample, Times } from './sample.js'

/** How often an honest agent asks again because a test of before flickered. */
const ATTEMPTS_MAX = 8

export interface WalkOptions {
  /** With tests that failed, were skipped and flickered before the task. */
  readonly hasOldTests: boolean
}

/** From `init` to a completed task, as a person and an honest agent do it. A string is the reason to skip. */
export async function walkSample(sample: Sample, { hasOldTests }: WalkOptions): Promise<Times | string> {
  let close: () => Promise<void> = async () => undefined
  const place = new Place((end) => (close = end))
  const env = { ...sample.environment }
  try {
    makeRepository(place.work, { ...sample.files, ...(hasOldTests ? sample.old : {}) })
    const missing = sample.install?.(place.work) ?? null
    if (missing !== null) return missing
    const before = git(place.work, 'status', '--porcelain')
    expect(before).toBe('')
    const { command, seconds: trial } = await readTrial(place, sample, { env, hasOldTests })
    const plain = measurePlain(place, { ...sample, command })
    const server = await startUp(place, env)
    const times = await walk(await Walker.claim(server, 'carts'), place.work, sample)
    const names = git(place.work, 'show', '--name-only', '--format=', 'HEAD').trim().split('\n')
    expect(names).toEqual([...Object.keys(sample.code), ...Object.keys(sample.tests)].toSorted())
    expect(git(place.work, 'status', '--porcelain')).toBe('?? agent_workflow.yaml\n')
    return { name: `${sample.name}${hasOldTests ? ', old tests' : ''}`, plain, trial, ...times }
  } finally {
    await place.run(['down'], { env })
    await close()
  }
}

interface Trial {
  readonly command: string
  readonly seconds: number
}

async function readTrial(
  place: Place,
  sample: Sample,
  { env, hasOldTests }: { readonly env: NodeJS.ProcessEnv; readonly hasOldTests: boolean },
): Promise<Trial> {
  const ended = await place.run(['init', '--yes', '--json'], { env })
  expect(ended.code, explain(ended)).toBe(0)
  const { trial, test_command } = JSON.parse(ended.stdout) as Record<string, unknown> & {
    trial: Record<string, unknown>
  }
  expect(trial, explain(ended)).toMatchObject({ format: sample.format, counts: { skipped: hasOldTests ? 1 : 0 } })
  const { passed, failed } = trial.counts as { passed: number; failed: number }
  expect(passed + failed).toBe(sample.passed + (hasOldTests ? 2 : 0))
  expect(failed).toBeGreaterThanOrEqual(hasOldTests ? 1 : 0)
  return { command: String(test_command), seconds: Number(trial.duration_ms) / 1000 }
}

function explain({ stdout, stderr }: Ended): string {
  return `${stdout}\n${stderr}`
}

/** What the command takes without Phaselock in a tree with warm caches, right after the change. */
function measurePlain(place: Place, { code, tests, environment, command }: Sample & { command: string }): number {
  const dir = join(place.home, 'plain')
  cpSync(place.work, dir, { recursive: true, verbatimSymlinks: true, preserveTimestamps: true })
  const env = { ...place.environment, ...environment }
  const run = (): number => {
    const began = performance.now()
    spawnSync('bash', ['-c', command], { cwd: dir, env, stdio: 'ignore' })
    return (performance.now() - began) / 1000
  }
  run()
  write(dir, { ...code, ...tests })
  return run()
}

function write(dir: string, files: Files): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(dir, path)), { recursive: true })
    writeFileSync(join(dir, path), text)
  }
}

async function walk(agent: Walker, tree: string, sample: Sample): Promise<Pick<Times, 'runTests' | 'red' | 'green'>> {
  await agent.plan()
  await writeAll(agent, tree, sample.tests)
  expect(await runTests(agent)).not.toMatchObject({ exit_code: 0 })
  const red = await measure(() => insist(agent, 'IMPL', testFiles(...Object.keys(sample.tests))))
  await writeAll(agent, tree, sample.code)
  const runs = await measure(() => runTests(agent))
  const green = await measure(() => insist(agent, 'REVIEW', implementation(...Object.keys(sample.code))))
  await agent.finish('Sum up prices', 'by a person')
  return { runTests: runs, red, green }
}

/** As agents do: whole new files, and edits of those that are there. */
async function writeAll(agent: Walker, tree: string, files: Files): Promise<void> {
  for (const [path, content] of Object.entries(files)) {
    const before = git(tree, 'ls-files', path) === '' ? null : readFileSync(join(tree, path), 'utf8')
    if (before === null) await agent.does('write_files', { path, content })
    else await agent.does('edit_files', { path, edits: [{ old: before, new: content }] })
  }
}

async function runTests(agent: Walker): Promise<unknown> {
  let { body } = await agent.use('run_tests', {})
  while (body.checking === true) ({ body } = await agent.use('run_tests', {}))
  return body.result
}

async function insist(agent: Walker, target: string, artifacts: Record<string, unknown>): Promise<void> {
  let body: Record<string, unknown> = {}
  for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt += 1) {
    body = await agent.move(target, artifacts)
    if (body.allowed === true || !JSON.stringify(body.blockers).includes('flicker')) break
  }
  expect(body, JSON.stringify(body, null, 1)).toMatchObject({ allowed: true, phase: target })
}

async function measure(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now()
  await work()
  return (performance.now() - began) / 1000
}
