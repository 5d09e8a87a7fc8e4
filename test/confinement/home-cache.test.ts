import { mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { ScratchLayers } from '../../src/confinement/changes/scratch-layers.js'
import type { Confinement, JobCache } from '../../src/confinement/confinement.js'
import { openConfinement } from '../../src/confinement/open-confinement.js'
import { runCommand } from '../../src/confinement/run-command.js'
import { CACHE_LIMITS } from '../../src/confinement/view/home-cache.js'
import { describeProviders } from './providers.js'
import { PROVIDERS } from './stage.js'

describeProviders(
  PROVIDERS,
  (only) => `the cache folder of commands: ${only}`,
  (only) => {
    let sandbox: Confinement
    let layers: ScratchLayers
    let dir = ''
    const at = (path: string) => join(dir, path)

    beforeAll(async () => {
      dir = realpathSync(mkdtempSync(join(tmpdir(), 'phaselock-home-')))
      mkdirSync(at('state'))
      sandbox = await openConfinement({ stateDir: at('state'), only })
    })
    afterAll(async () => {
      await sandbox.close()
      rmSync(dir, { recursive: true, force: true })
    })
    beforeEach(() => {
      for (const folder of ['tree', 'seed', 'caches']) rmSync(at(folder), { recursive: true, force: true })
      for (const folder of ['tree', 'seed/go-build']) mkdirSync(at(folder), { recursive: true })
      writeFileSync(at('seed/go-build/seeded'), 'seed\n')
      layers = new ScratchLayers(at('caches'), { ...CACHE_LIMITS, bytesMax: 1024 * 1024 })
    })
    const keepFor =
      (task: string, told: string[] = []): JobCache['keep'] =>
      async ({ list, isCut, view }) => {
        const plan = layers.plan(task, list, isCut)
        if (typeof plan?.dropped === 'string') told.push(plan.dropped)
        if (plan !== null) await layers.save(plan, view)
      }
    const run = async (
      command: string,
      about: { readonly task?: string; readonly timeoutMs?: number; readonly told?: string[] } = {},
    ) => {
      const { task = 't', timeoutMs = 20_000, told = [] } = about
      const { layer } = await layers.prepare(task, at('tree'))
      const done = await runCommand(sandbox, {
        ...{ tree: at('tree'), argv: ['bash', '-c', command], cwd: '.', env: {}, network: false, writes: 'keep' },
        ...{ git: 'read', hidden: [], signal: new AbortController().signal, timeoutMs },
        cache: { layer, seeds: [at('seed')], keep: keepFor(task, told) },
      })
      await done.changes.discard()
      return done
    }

    it('[REQ-CACHE-1] a command finds what earlier ones of its task cached, changes it and removes it', async () => {
      expect(sandbox.provider).toBe(only)
      await run('mkdir -p ~/.cache/go-build/ab && echo one > ~/.cache/go-build/ab/x && echo two > ~/.cache/y')
      expect(await run('cat ~/.cache/go-build/ab/x ~/.cache/y ~/.cache/go-build/seeded')).toMatchObject({
        stdout: 'one\ntwo\nseed\n',
      })
      await run('rm -f ~/.cache/y; rm -rf ~/.cache/go-build/ab; echo three > ~/.cache/z')
      expect((await run('cd ~/.cache && find . -type f -o -type l | sort')).stdout).toBe('./go-build/seeded\n./z\n')
    })

    it('[REQ-CACHE-2] the folders below are never written, and another task does not see what one cached', async () => {
      await run(
        'echo planted > ~/.cache/go-build/new; rm -f ~/.cache/go-build/seeded; echo bad > ~/.cache/go-build/seeded',
      )
      expect(readFileSync(at('seed/go-build/seeded'), 'utf8')).toBe('seed\n')
      expect(readdirSync(at('seed/go-build'))).toEqual(['seeded'])
      expect((await run('ls ~/.cache/go-build; cat ~/.cache/go-build/seeded', { task: 'u' })).stdout).toBe(
        'seeded\nseed\n',
      )
    })

    it('[REQ-CACHE-3] a cache beyond its limit is discarded as a whole, and the agent is told', async () => {
      await run('echo one > ~/.cache/x')
      const told: string[] = []
      await run('head -c 2000000 /dev/zero > ~/.cache/big', { told })
      expect(told).toEqual([expect.stringContaining('wrote more than 40000 paths or 1 MiB to the cache folder')])
      expect((await run('ls ~/.cache')).stdout).toBe('go-build\n')
    })

    it('[REQ-CACHE-3] one command cannot write more than its file system holds', async () => {
      const { stderr } = await run('for i in 1 2 3; do head -c 300000000 /dev/zero > ~/.cache/$i; done')
      expect(stderr).toContain('No space left')
    })

    it('[REQ-CACHE-1] what a command cached before its time was over is kept', async () => {
      expect(await run('echo one > ~/.cache/x; sleep 30', { timeoutMs: 1500 })).toMatchObject({ stopped: 'timeout' })
      expect((await run('cat ~/.cache/x')).stdout).toBe('one\n')
    })

    it('[REQ-CACHE-2] links, pipes and unreadable folders that a command leaves harm nothing', async () => {
      await run(
        'cd ~/.cache && ln -s /etc/passwd l && mkfifo p && mkdir d && echo x > d/x && chmod 0 d && echo kept > k && ln -s /etc e',
      )
      expect((await run('cd ~/.cache && cat k; ls -d l p e')).stdout).toBe('kept\n')
    })

    it('[REQ-CACHE-2] a command without one has an empty home', async () => {
      await run('echo one > ~/.cache/x')
      const done = await runCommand(sandbox, {
        ...{ tree: at('tree'), argv: ['bash', '-c', 'ls -a ~/.cache'], cwd: '.', env: {}, network: false },
        ...{ writes: 'discard', git: 'read', hidden: [], signal: new AbortController().signal, timeoutMs: 20_000 },
      })
      expect(done).toMatchObject({ exitCode: 2, stdout: '' })
    })
  },
)
