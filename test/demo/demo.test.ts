import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { renderRecording } from '../../dev/pictures/demo-recording.mjs'
import { CODES } from '../../src/core/codes.js'
import { built, ROOT, SCRIPT } from '../cli/program.js'
import { isFullDepth } from '../depth.js'
import { readDoc } from '../docs/blocks.js'
import { Room, type Showing, type Shown, show } from './showing.js'

const SHOWING_MS_MAX = 300_000
const COLUMNS_MAX = 80

/** Each trick with the code that it is refused with, as docs/demo.md tells it. */
const TRICKS = [...readDoc('docs/demo.md').matchAll(/^\| (.+) \(`(\w+)`\) \| `(\w+)` \|$/gm)].map(
  ([, tries, id, code]) => ({ tries, id, code }),
)

beforeAll(built, SHOWING_MS_MAX)

describe('a showing', () => {
  let room: Room
  let shown: Showing

  beforeAll(async () => {
    room = new Room()
    shown = await show(room)
  }, SHOWING_MS_MAX)
  afterAll(() => room?.remove())

  it('[REQ-DEMO-1] the honest agent goes through all five phases, and the program ends with 0', () => {
    expect(shown, shown.stdout + shown.stderr).toMatchObject({ code: 0 })
    const phases = [...shown.stdout.matchAll(/^ {4}([A-Z]+) {2,}.+ ok/gm)].map(([, phase]) => phase)
    expect([...new Set(phases)]).toEqual(['PLAN', 'TDD', 'IMPL', 'REVIEW', 'COMPLETE'])
    expect(shown.stdout).toContain('you read the plan and approve it')
    expect(shown.stdout).toMatch(/runs the tests +ok {2}1 passed, 1 failed/)
  })

  it('[REQ-DEMO-2] every trick is shown with the code that refused it, and the score counts them', () => {
    const lines = [...shown.stdout.matchAll(/^[ \d]\d {2}(.+?) +refused {2}(\w+)$/gm)]
    expect(lines.map(([, tries, code]) => ({ tries, code }))).toEqual(
      TRICKS.map(({ tries, code }) => ({ tries, code })),
    )
    expect(shown.stdout).toContain(`Score: ${TRICKS.length} attempts, ${TRICKS.length} refused.`)
  })

  it('[REQ-DEMO-2] every refusal has its reason below it', () => {
    const lines = shown.stdout.split('\n')
    const refused = lines.flatMap((line, at) => (/ refused {2}\w+$/.test(line) ? [lines[at + 1] ?? ''] : []))
    expect(refused).toHaveLength(TRICKS.length)
    expect(refused.filter((line) => !/^ {4}\S.{10}/.test(line))).toEqual([])
  })

  it('[REQ-DEMO-3] it ends with both reports and a ledger that was verified', () => {
    expect(shown.stdout).toMatch(/^Task +honest /m)
    expect(shown.stdout).toMatch(/^Status +completed$/m)
    expect(shown.stdout).toMatch(/^Task +cheating /m)
    expect(shown.stdout).toMatch(/^Status +cancelled$/m)
    expect(shown.stdout).toMatch(/^The ledger is intact: \d+ events in 3 streams\.$/m)
    expect(shown.stdout).toMatch(/^Took \d+\.\d s\./m)
  })

  it('[REQ-DEMO-4] no line is wider than a terminal, and where none is there are no colours', () => {
    expect(shown.stdout.split('\n').filter((line) => [...line].length > COLUMNS_MAX)).toEqual([])
    expect(shown.stdout).not.toContain('\u001B')
  })

  it('[REQ-DEMO-5] nothing is left behind: no file and no process', async () => {
    await expect.poll(() => room.leftovers()).toEqual([])
  })

  it('[REQ-DEMO-6] the recording in the README shows what the program prints (npm run record-demo makes it anew)', () => {
    expect(renderRecording(shown.stdout)).toBe(readFileSync(join(ROOT, 'docs/pictures/demo.svg'), 'utf8'))
    expect(readDoc('README.md')).toContain('(docs/pictures/demo.svg)')
  })
})

describe('what is documented', () => {
  it('[REQ-DEMO-2] every code in docs/demo.md is one that Phaselock has', () => {
    expect(TRICKS.length).toBeGreaterThan(12)
    expect(TRICKS.filter(({ code }) => !Object.hasOwn(CODES, code ?? ''))).toEqual([])
  })

  it('[REQ-DEMO-6] every option is documented, and every documented option exists', () => {
    const help = execFileSync(process.execPath, [SCRIPT, 'demo', '--help'], { encoding: 'utf8' })
    const real = [...help.matchAll(/^ {2}(?:-\w, )?(--[a-z-]+)/gm)].map(([, name]) => name)
    const documented = [...readDoc('docs/demo.md').matchAll(/^\| `(--[a-z-]+)/gm)].map(([, name]) => name)
    expect(documented.sort()).toEqual(real.filter((name) => name !== '--help').sort())
  })

  it('[REQ-DEMO-6] what the demo needs is shipped', () => {
    const { files, scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
    expect(files).toEqual(expect.arrayContaining(['demo', 'dist', 'contracts', 'sdk/typescript/dist']))
    expect(scripts.demo).toContain('scripts/demo.mjs')
  })
})

describe('for programs', () => {
  it.runIf(isFullDepth())(
    '[REQ-DEMO-7] --json --keep leaves the folder: the ledger verifies, the repository has the commit, the cheater has none',
    async () => {
      const room = new Room()
      try {
        const { code, stdout, stderr } = await show(room, ['--json', '--keep'])
        expect(code, stdout + stderr).toBe(0)
        const result = JSON.parse(stdout) as Shown
        expect(result).toMatchObject({ ok: true, faults: [], honest: { completed: true }, ledger: { ok: true } })
        expect(result.cheating.attempts.map(({ tries, id, code }) => ({ tries, id, code }))).toEqual(TRICKS)
        expect(result.score).toMatchObject({ attempts: TRICKS.length, refused: TRICKS.length, opened: 0, doubtful: 0 })
        expect(result.reports.map(({ run }) => run.status)).toEqual(['completed', 'cancelled'])
        expect(result.reports[1]?.refusals.count).toBeGreaterThanOrEqual(TRICKS.length)
        const folder = result.folder ?? ''
        const verify = spawnSync(process.execPath, [SCRIPT, 'audit', 'verify', '--state-dir', join(folder, 'state')], {
          env: room.environment,
          encoding: 'utf8',
        })
        expect(verify, verify.stderr).toMatchObject({ status: 0 })
        expect(verify.stdout).toContain(`The ledger is intact: ${result.ledger.events} events`)
        expect(subjects(join(folder, 'honest'))).toEqual(['Say goodbye by name', 'Greet by name'])
        expect(subjects(join(folder, 'cheating'))).toEqual(['Greet by name'])
        expect(existsSync(join(folder, 'honest/src/goodbye.js'))).toBe(true)
      } finally {
        room.remove()
      }
    },
    SHOWING_MS_MAX,
  )

  // A third showing takes as long as the others, and most people have the sandbox.
  if (isFullDepth())
    it(
      '[REQ-DEMO-8] without a sandbox it runs, says unenforced where that matters, and the gate stays closed all the same',
      async () => {
        const room = new Room()
        try {
          const { code, stdout, stderr } = await show(room, ['--json', '--confinement', 'none'])
          expect(code, stdout + stderr).toBe(0)
          const result = JSON.parse(stdout) as Shown
          expect(result.confinement).toMatchObject({
            provider: 'none',
            unenforced: expect.arrayContaining(['tree_writes']),
          })
          expect(result.score).toMatchObject({ attempts: TRICKS.length, refused: TRICKS.length - 1, unenforced: 1 })
          const open = result.cheating.attempts.filter(({ outcome }) => outcome !== 'refused')
          expect(open).toMatchObject([
            { id: 'code_by_command', outcome: 'unenforced', why: expect.stringContaining('[unledgered_change]') },
          ])
          await expect.poll(() => room.leftovers()).toEqual([])
        } finally {
          room.remove()
        }
      },
      SHOWING_MS_MAX,
    )

  it('[REQ-DEMO-9] to be asked needs a terminal', async () => {
    const room = new Room()
    try {
      expect(await show(room, ['--interactive'])).toMatchObject({ code: 2, stdout: '' })
      await expect.poll(() => room.leftovers()).toEqual([])
    } finally {
      room.remove()
    }
  })
})

function subjects(dir: string): readonly string[] {
  // The repository may belong to another user: the one that commands run as.
  const args = ['-c', `safe.directory=${dir}`, '-C', dir, 'log', '--format=%s']
  return execFileSync('git', args, { encoding: 'utf8' }).trim().split('\n')
}
