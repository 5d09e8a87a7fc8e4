import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Confinement } from '../../src/confinement/confinement.js'
import { openConfinement } from '../../src/confinement/open-confinement.js'
import { runCommand } from '../../src/confinement/run-command.js'
import { describeProviders } from './providers.js'
import { PROVIDERS } from './stage.js'

describeProviders(
  PROVIDERS,
  (only) => `a file of the tree that commands must not see: ${only}`,
  (only) => {
    let wall: Confinement
    let dir = ''
    beforeAll(async () => {
      dir = mkdtempSync(join(tmpdir(), 'phaselock-covered-'))
      for (const folder of ['state', 'tree']) mkdirSync(join(dir, folder))
      writeFileSync(join(dir, 'tree/secret.yaml'), 'secret: 4711\n')
      wall = await openConfinement({ stateDir: join(dir, 'state'), only })
    })
    afterAll(async () => {
      await wall.close()
      rmSync(dir, { recursive: true, force: true })
    })

    it.each(['discard', 'keep', 'read'] as const)(
      '[REQ-COMMITS-2] is an empty file for tools that read everything, and cannot be written: %s',
      async (writes) => {
        const command =
          'test -f secret.yaml && cat secret.yaml && grep -rc 4711 . ; echo x > secret.yaml || echo refused'
        const done = await runCommand(wall, {
          ...{ tree: join(dir, 'tree'), argv: ['bash', '-c', command], cwd: '.', env: {}, network: false, writes },
          ...{ git: 'read', hidden: ['secret.yaml'], signal: new AbortController().signal, timeoutMs: 20_000 },
        })
        await done.changes.discard()
        expect(done).toMatchObject({ exitCode: 0, stdout: './secret.yaml:0\nrefused\n' })
        expect(readFileSync(join(dir, 'tree/secret.yaml'), 'utf8')).toBe('secret: 4711\n')
      },
    )
  },
)
