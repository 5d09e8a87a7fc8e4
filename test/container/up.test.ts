import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { built } from '../cli/program.js'
import { Host } from './host.js'

const RUN_MS_MAX = 240_000
let host: Host
beforeAll(built, 200_000)
beforeEach(() => {
  host = new Host()
})
afterEach(() => host.close())

describe('phaselock up --container', () => {
  it(
    '[REQ-CONTAINER-1] shows why the server does not start, and leaves no container',
    () => {
      host.install('docker')
      host.set('broken')
      expect(host.up()).toMatchObject({ status: 1, said: expect.stringMatching(/did not start\.\n.*port/s) })
      expect(host.containers()).toEqual([])
    },
    RUN_MS_MAX,
  )

  it(
    '[REQ-CONTAINER-1] with a contract that was changed after it was accepted',
    () => {
      host.install('docker')
      const contract = join(host.repository, 'agent_workflow.yaml')
      writeFileSync(contract, 'extends: phaselock/tdd\n')
      expect(host.up().status).toBe(0)
      expect(host.phaselock('down').status).toBe(0)
      writeFileSync(contract, 'extends: phaselock/plan-review\n')
      expect(host.up()).toMatchObject({
        status: 1,
        said: expect.stringMatching(/was changed since[\s\S]*phaselock' trust|trust/),
      })
    },
    RUN_MS_MAX,
  )

  it(
    '[REQ-CONTAINER-2] gives the server the work tree, a volume and the account of the person, on the loopback only',
    () => {
      host.install('podman')
      expect(host.up()).toMatchObject({
        status: 0,
        said: expect.stringMatching(/Building the image[\s\S]*container phaselock-carts-/),
      })
      const call = host.calls().find(([, verb]) => verb === 'run') ?? []
      const valuesOf = (option: string) => call.flatMap((word, at) => (word === option ? [call[at + 1]] : []))
      const [name] = valuesOf('--name')
      expect(valuesOf('--volume')).toEqual([
        `${name}:/var/lib/phaselock`,
        `${host.repository}:${host.repository}`,
        expect.stringMatching(/container\.gitconfig:\/etc\/gitconfig:ro$/),
      ])
      expect(valuesOf('--publish')).toEqual([expect.stringMatching(/^127\.0\.0\.1:(\d+):\1$/)])
      expect(valuesOf('--user')).toEqual([`${process.getuid?.()}:${process.getgid?.()}`])
      expect(valuesOf('--security-opt')).toEqual(expect.arrayContaining(['no-new-privileges', 'unmask=ALL']))
      // The key of the ledger stays in the volume.
      expect(readdirSync(host.stateDir()).sort()).toEqual(
        ['container.gitconfig', 'operator.token', 'server-proof.key', 'server.json'].sort(),
      )
      const token = readFileSync(join(host.stateDir(), 'operator.token'), 'utf8').trim()
      expect(host.calls().flat().join(' ')).not.toContain(token)
    },
    RUN_MS_MAX,
  )

  it(
    '[REQ-CONTAINER-3] commands on the host find it; down stops it, and its state stays',
    () => {
      host.install('docker')
      expect(host.up().status).toBe(0)
      expect(host.phaselock('task', 'add', 'Sum up prices').status).toBe(0)
      expect(host.phaselock('status').said).toMatch(/Tasks +1/)
      expect(host.up().said).toContain('already runs')
      expect(host.phaselock('down').said).toMatch(/Stopped[\s\S]*docker volume rm phaselock-carts-/)
      expect(host.containers()).toEqual([])
      expect(host.phaselock('status', '--state-dir', host.stateDir()).status).toBe(3)
      expect(host.up().status).toBe(0)
      expect(host.phaselock('status').said).toMatch(/Tasks +1/)
      expect(host.calls().filter(([, verb]) => verb === 'build')).toHaveLength(1)
    },
    RUN_MS_MAX,
  )

  it(
    '[REQ-CONTAINER-3] no token is sent to another program that took its port',
    async () => {
      host.install('docker')
      expect(host.up().status).toBe(0)
      const note = JSON.parse(readFileSync(join(host.stateDir(), 'server.json'), 'utf8'))
      writeFileSync(join(host.stateDir(), 'server-proof.key'), `${'0'.repeat(64)}\n`)
      expect(host.phaselock('status')).toMatchObject({ status: 3, said: expect.stringContaining('No token was sent') })
      expect(note.container.engine).toBe('docker')
    },
    RUN_MS_MAX,
  )
})
