import { execFileSync } from 'node:child_process'
import { closeSync, constants, existsSync, mkdirSync, openSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { beforeAll, describe, expect, it } from 'vitest'
import { built, type Ended, Place } from './program.js'

const MS = 300_000
const ANSWER_MS_MAX = 20_000
const CONTRACT = `
name: small
version: "1"
phases: [{id: WORK, allowed_tools: [read_files]}, {id: DONE, allowed_tools: []}]
transitions: [{from: WORK, to: DONE}]
`
const STARTS = [
  ['validate', 'agent_workflow.yaml'],
  ['serve', '--port', '0'],
  ['up', '--port', '0'],
] as const

beforeAll(built, MS)

describe('a file or folder of an unusual kind', () => {
  const place = new Place()
  const file = join(place.work, 'agent_workflow.yaml')
  /** Null: it did not end in time. */
  const ended = (args: readonly string[]): Promise<Ended | null> =>
    Promise.race([place.run(args), sleep(ANSWER_MS_MAX, null, { ref: false })])

  it(
    '[REQ-CONTRACT-7] a pipe in the place of the contract is refused at once',
    async () => {
      execFileSync('mkfifo', [file])
      try {
        for (const words of STARTS) {
          const { code, stderr, stdout } = (await ended(words)) ?? { code: 'none', stderr: '', stdout: '' }
          expect(code, words[0]).toBe(1)
          expect(stdout + stderr, words[0]).toContain('agent_workflow.yaml cannot be loaded: it is not a regular file')
          expect(stderr, words[0]).not.toContain('    at ')
        }
      } finally {
        // Whoever waits for the other end of the pipe is let go.
        closeSync(openSync(file, constants.O_RDWR | constants.O_NONBLOCK))
        rmSync(file)
      }
    },
    MS * 2,
  )

  it(
    '[REQ-CONTRACT-7] so are a socket and a device, and a plain file is read',
    async () => {
      const socket = createServer().listen(file)
      await new Promise((resolve) => socket.once('listening', resolve))
      const said = async (): Promise<string> => {
        const run = await ended(['validate', file])
        return `${run?.code} ${run?.stdout}${run?.stderr}`
      }
      expect(await said()).toMatch(/^1 .*it is not a regular file/s)
      await new Promise((resolve) => socket.close(resolve))
      rmSync(file, { force: true })
      symlinkSync('/dev/zero', file)
      expect(await said()).toMatch(/^1 .*it is not a regular file/s)
      rmSync(file)
      writeFileSync(file, CONTRACT)
      expect(await said()).toMatch(/^0 /)
    },
    MS * 2,
  )

  it(
    '[REQ-CONTRACT-7] init does not wait for a pipe in the place of a file of the project',
    async () => {
      const project = join(place.home, 'project')
      mkdirSync(project)
      execFileSync('mkfifo', [join(project, 'package.json'), join(project, 'Makefile'), join(project, 'setup.py')])
      try {
        const run = await Promise.race([
          place.run(['init', '--yes', '--no-trial'], { cwd: project }),
          sleep(ANSWER_MS_MAX, null, { ref: false }),
        ])
        expect(run?.code, run?.stderr).toBe(0)
      } finally {
        for (const name of ['package.json', 'Makefile', 'setup.py'])
          closeSync(openSync(join(project, name), constants.O_RDWR | constants.O_NONBLOCK))
      }
    },
    MS,
  )

  it(
    '[REQ-STATEDIR-2] a link that leads nowhere is refused as a state directory',
    async () => {
      writeFileSync(file, CONTRACT)
      const link = join(place.home, 'dangling')
      symlinkSync(join(place.home, 'nowhere'), link)
      for (const words of [
        ['serve', '--port', '0'],
        ['up', '--port', '0'],
        ['trust', file, '--yes'],
      ]) {
        const run = await ended([...words, '--state-dir', link])
        expect(run?.code, words[0]).toBe(1)
        expect(run?.stderr, words[0]).toContain(`The state directory ${link} is a link that leads nowhere`)
        expect(run?.stderr, words[0]).not.toContain('    at ')
      }
      expect(existsSync(join(place.home, 'nowhere'))).toBe(false)
      // A link above it is nothing unusual.
      mkdirSync(join(place.home, 'real'))
      symlinkSync(join(place.home, 'real'), join(place.home, 'above'))
      const server = await place.serve(['--state-dir', join(place.home, 'above', 'state')])
      expect(existsSync(join(place.home, 'real', 'state', 'ledger.db'))).toBe(true)
      server.kill('SIGTERM')
    },
    MS * 2,
  )
})
