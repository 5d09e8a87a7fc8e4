import { createServer } from 'node:net'
import { join } from 'node:path'
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { built } from '../cli/program.js'
import { git } from '../e2e/projects.js'
import { Host } from './host.js'

let host: Host
beforeAll(built, 200_000)
beforeEach(() => {
  host = new Host()
})
afterEach(() => host.close())

describe('phaselock up --container is refused', () => {
  it('[REQ-CONTAINER-1] where no engine is installed, or none answers, with what to do', () => {
    expect(host.up()).toMatchObject({
      status: 1,
      said: expect.stringMatching(/no program docker or podman.*\nInstall/),
    })
    host.install('docker')
    host.set('silent')
    expect(host.up()).toMatchObject({
      status: 1,
      said: expect.stringMatching(/docker is installed.*\nStart Docker Desktop/),
    })
    expect(host.up('--engine', 'podman')).toMatchObject({
      status: 1,
      said: expect.stringContaining('no program podman'),
    })
  })

  it('[REQ-CONTAINER-1] with options that mean nothing in it, and its options without it', () => {
    host.install('docker')
    expect(host.up('--host', '0.0.0.0', '--store', 'postgres://x/y')).toMatchObject({
      status: 2,
      said: expect.stringContaining('--host, --store cannot be used with --container'),
    })
    expect(host.phaselock('up', '--image', 'x')).toMatchObject({ status: 2 })
  })

  it('[REQ-CONTAINER-1] in a linked work tree, whose repository would be missing', () => {
    host.install('docker')
    const linked = join(host.dir, 'linked')
    git(host.repository, 'worktree', 'add', '-q', linked)
    expect(host.up('--workspace', linked)).toMatchObject({
      status: 1,
      said: expect.stringContaining('linked work tree'),
    })
  })

  it('[REQ-CONTAINER-1] on a port that is in use, and with an image that cannot be had', async () => {
    host.install('docker')
    const busy = createServer().listen(0, '127.0.0.1')
    await new Promise((resolve) => busy.once('listening', resolve))
    const { port } = busy.address() as { port: number }
    expect(host.phaselock('up', '--container', '--port', String(port))).toMatchObject({
      status: 1,
      said: expect.stringContaining(`Port ${port} is in use`),
    })
    busy.close()
    expect(host.up('--image', 'registry/other:1')).toMatchObject({
      status: 1,
      said: expect.stringContaining('no network'),
    })
  }, 120_000)
})
