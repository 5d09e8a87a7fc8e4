import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { isFullDepth } from '../depth.js'
import type { Files } from '../e2e/projects.js'
import { implementation, REVIEW, testFiles } from '../e2e/walker.js'
import type { Installed } from '../mcp/packages.js'
import type { Forge, Project, Task } from './forge.js'

/** What got through before: docs/security.md lists the cases of each class. */
export type ForgeryClass = 'red' | 'judge' | 'stand-in' | 'gate' | 'comparison' | 'report'

export interface Forgery {
  readonly class: ForgeryClass
  readonly name: string
  /** Written with the tools of the phase. */
  readonly write?: Files
  /** Put there beside all tools. */
  readonly smuggle?: Files
  /** More, beside all tools. What it makes is removed with `removes`. */
  readonly act?: (task: Task) => void | Promise<void>
  readonly removes?: readonly string[]
  /** Of class `red`: the file that is named as the test of the criterion. */
  readonly named?: string
  /** What the refusal has to say. */
  readonly told: readonly RegExp[]
}

/** A repository with one runner, an honest change in it, and forgeries of that change. */
export interface Shape extends Project {
  readonly name: string
  /** Code that every forgery has unless it says otherwise: it does not do what the tests ask for. */
  readonly wrong: Files
  readonly honest: Files
  readonly forgeries: readonly Forgery[]
  /** Packages that the shape needs; the reason to skip it where they cannot be had. */
  readonly packages?: Installed
  readonly onlyFull?: boolean
}

/**
 * Tries every forgery of a shape on one task: in TDD those of class `red`, in IMPL the others. Each is taken back before the next.
 * In the end the same task reaches `completed` with the honest change. `npm test` tries one forgery of each class.
 */
export function describeShape(shape: Shape, forgeOf: () => Forge): void {
  const reason = shape.packages?.ok === false ? ` (${shape.packages.reason})` : ''
  const isSkipped = reason !== '' || (shape.onlyFull === true && !isFullDepth())
  describe.skipIf(isSkipped)(`${shape.name}${reason}`, () => {
    let task: Task
    let inImpl: Promise<void> | null = null
    beforeAll(async () => {
      task = await forgeOf().inTdd({ ...shape, contract: patient(shape.contract) })
    })
    const [first = ''] = Object.keys(shape.tests)
    const enter = async (): Promise<void> => {
      await task.write(shape.tests)
      await task.agent.enters('IMPL', testFiles(first))
      await task.write(shape.wrong)
    }
    const list = chosen(shape.forgeries)
    for (const forgery of list.filter((one) => one.class === 'red'))
      it(`[REQ-FORGE-1] RED: ${forgery.name}`, async () => {
        await tried(task, forgery, () => task.agent.move('IMPL', testFiles(forgery.named ?? first)))
      })
    for (const forgery of list.filter((one) => one.class !== 'red'))
      it(`[REQ-FORGE-2] ${forgery.name}`, async () => {
        inImpl ??= enter()
        await inImpl
        await tried(task, forgery, () => task.agent.move('REVIEW', implementation('src')))
      })
    it('[REQ-FORGE-3] the honest change in the same repository completes', async () => {
      inImpl ??= enter()
      await inImpl
      await task.write(shape.honest)
      await task.completes()
      await task.agent.finish('feat: add')
    })
  })
}

async function tried(task: Task, forgery: Forgery, ask: () => Promise<Record<string, unknown>>): Promise<void> {
  const { write = {}, smuggle = {} } = forgery
  const before = new Map([...Object.keys(write), ...Object.keys(smuggle)].map((path) => [path, textAt(task.dir, path)]))
  try {
    await task.write(write)
    task.smuggle(smuggle)
    await forgery.act?.(task)
    const answer = await ask()
    if (answer.allowed === true) await goBack(task)
    expect(answer, JSON.stringify(answer)).toMatchObject({ allowed: false })
    const told = (answer.blockers as readonly object[]).map((one) => JSON.stringify(one)).join('\n')
    for (const pattern of forgery.told) expect(told).toMatch(pattern)
  } finally {
    for (const path of forgery.removes ?? []) rmSync(join(task.dir, path), { recursive: true, force: true })
    for (const [path, text] of before) {
      if (text !== null) writeFileSync(join(task.dir, path), text)
      else rmSync(join(task.dir, path), { force: true })
    }
  }
}

// A forgery that got through must not keep the next ones from being tried.
async function goBack({ agent }: Task): Promise<void> {
  for (const [phase, claim] of [
    ['IMPL', 'changes_requested'],
    ['TDD', 'tests_need_change'],
  ] as const) {
    const body = {
      task_id: agent.task,
      target_phase: phase,
      claims: { [claim]: true },
      artifacts: phase === 'IMPL' ? REVIEW : {},
    }
    const answer = await agent.server.call('POST', '/tasks/transition', agent.token, body)
    if (typeof answer.body.phase_token === 'string') agent.token = answer.body.phase_token
    if (answer.body.allowed === true) return
  }
}

/** One forgery of each class, all of them at full depth. */
function chosen(all: readonly Forgery[]): readonly Forgery[] {
  return isFullDepth() ? all : all.filter((one, at) => all.findIndex((other) => other.class === one.class) === at)
}

function textAt(dir: string, path: string): string | null {
  return existsSync(join(dir, path)) ? readFileSync(join(dir, path), 'utf8') : null
}

/** Several attempts of one task are no reason to stop it here. */
export function patient(contract: (text: string) => string = String): (text: string) => string {
  return (text) => `${contract(text).trimEnd()}\n  denial_budget: 1000\n  max_attempts: 1000\n`
}

/** Lets IMPL write tests, so that the view alone keeps late ones out. */
export function withLateTests(text: string): string {
  return text.replaceAll(/^ +"(tests\/\*\*|\*\*\/\*\.test\.\*)",\n/gm, '')
}

/** Tests that show nothing at RED, for any runner: tests of a shape in `tests/`, with an old test that fails in `old`. */
export function redForgeries(texts: {
  readonly tests: Files
  readonly old: string
  readonly passes: string
  readonly empty: string
  readonly ending?: string
  /** Which of them `npm test` tries: each runner another one. */
  readonly usual: number
}): readonly Forgery[] {
  const { tests, ending = 'js', usual } = texts
  const all: readonly Forgery[] = [
    {
      class: 'red',
      name: 'a criterion names a test that already passes, while another new test fails',
      write: { ...tests, [`tests/more.test.${ending}`]: texts.passes },
      named: `tests/more.test.${ending}`,
      told: [/no new test fails for \\"AC1\\"/, /tests\/more\.test\.\w+: .*is one already passes/],
    },
    {
      class: 'red',
      name: 'a criterion names a file that is no test',
      write: { ...tests, 'tests/words.txt': 'expect(words).toBe(read)\n' },
      named: 'tests/words.txt',
      told: [/tests\/words\.txt/],
    },
    {
      class: 'red',
      name: 'a failure from before the task stands in for RED',
      write: { [`tests/old.test.${ending}`]: `${texts.old}// touched\n` },
      named: `tests/old.test.${ending}`,
      told: [/old is broken failed before the task too/],
    },
    {
      class: 'red',
      name: 'a test without an assertion imports a missing module',
      write: { [`tests/z.test.${ending}`]: texts.empty },
      told: [/no assertion/],
    },
  ]
  return [...all.slice(usual), ...all.slice(0, usual)]
}
