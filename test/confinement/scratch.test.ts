import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { SCRATCH_ENTRIES_MAX, ScratchLayers } from '../../src/confinement/changes/scratch-layers.js'
import type { Confinement } from '../../src/confinement/confinement.js'
import { openConfinement } from '../../src/confinement/open-confinement.js'
import { runCommand } from '../../src/confinement/run-command.js'
import type { Change } from '../../src/tree/change.js'
import { describeProviders } from './providers.js'
import { PROVIDERS } from './stage.js'

const SCRATCH_LAYERS_MAX = 64
const made = (path: string, about: Partial<Change> = {}): Change => ({
  ...{ path, kind: 'created', type: 'file', bytes: 1, sha256: null, problem: null },
  ...about,
})

describeProviders(
  PROVIDERS,
  (only) => `a layer over the tree: ${only}`,
  (only) => {
    let wall: Confinement
    let dir = ''
    const at = (path: string) => join(dir, path)

    beforeAll(async () => {
      dir = mkdtempSync(join(tmpdir(), 'phaselock-layer-'))
      mkdirSync(at('state'))
      wall = await openConfinement({ stateDir: at('state'), only })
    })
    afterAll(async () => {
      await wall.close()
      rmSync(dir, { recursive: true, force: true })
    })
    beforeEach(() => {
      for (const folder of ['tree/src', 'layer/dist/deep', 'layer/src/.cache'])
        mkdirSync(at(folder), { recursive: true })
      writeFileSync(at('tree/src/a'), 'tree\n')
      writeFileSync(at('tree/x'), 'tree\n')
      writeFileSync(at('layer/x'), 'layer\n')
      writeFileSync(at('layer/dist/deep/b'), 'layer\n')
      writeFileSync(at('layer/src/.cache/c'), 'layer\n')
    })
    afterEach(() => {
      for (const folder of ['tree', 'layer']) rmSync(at(folder), { recursive: true, force: true })
    })
    const run = async (command: string, layer: string | null = at('layer')) => {
      const done = await runCommand(wall, {
        ...{ tree: at('tree'), argv: ['bash', '-c', command], cwd: '.', env: {}, network: false, writes: 'keep' },
        ...{ git: 'read', hidden: [], signal: new AbortController().signal, timeoutMs: 20_000, layer },
      })
      await done.changes.discard()
      return { ...done, changed: done.changes.list.map(({ path, kind }) => `${kind} ${path}`) }
    }

    it('[REQ-SCRATCH-1] a command sees its content, and only its own writes count as changes', async () => {
      expect(wall.provider).toBe(only)
      expect(await run('cat x dist/deep/b src/.cache/c src/a')).toMatchObject({
        stdout: 'layer\nlayer\nlayer\ntree\n',
        changed: [],
      })
      expect(
        (await run('rm x; echo more >> dist/deep/b; echo n > dist/n; rm -r src/.cache; echo layer > src/.cache2'))
          .changed,
      ).toEqual(
        [
          'created dist/n',
          'modified dist/deep/b',
          'deleted src/.cache',
          'deleted src/.cache/c',
          'created src/.cache2',
          'deleted x',
        ].sort((a, b) => (a.split(' ')[1] ?? '').localeCompare(b.split(' ')[1] ?? '')),
      )
    })

    it('[REQ-SCRATCH-4] no write of the command reaches the layer or the tree', async () => {
      await run('echo bad > x; echo bad > src/a; echo bad > dist/deep/b; chmod 777 dist; rm -rf src/.cache')
      expect(readFileSync(at('layer/x'), 'utf8')).toBe('layer\n')
      expect(readFileSync(at('layer/dist/deep/b'), 'utf8')).toBe('layer\n')
      expect(existsSync(at('layer/src/.cache/c'))).toBe(true)
      expect(readFileSync(at('tree/src/a'), 'utf8')).toBe('tree\n')
    })

    it('[REQ-SCRATCH-2] a command without it sees the tree alone', async () => {
      expect(await run('ls; cat x', null)).toMatchObject({ stdout: 'src\nx\ntree\n' })
    })
  },
)

describe('layers of tasks', () => {
  let dir = ''
  let layers: ScratchLayers
  const at = (path: string) => join(dir, path)
  const files = async (task = 't') => (await layers.findFilesFolder(task)) ?? ''
  const save = (changes: readonly Change[], task = 't') => {
    const plan = layers.plan(task, changes)
    return plan === null ? Promise.resolve(true) : layers.save(plan, at('view'))
  }

  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), 'phaselock-layers-'))
    mkdirSync(at('tree'))
    mkdirSync(at('view/dist'), { recursive: true })
    writeFileSync(at('view/dist/x'), 'x')
    writeFileSync(at('outside'), 'mine')
    layers = new ScratchLayers(at('layers'))
  })
  afterEach(() => rmSync(dir, { recursive: true, force: true }))

  it('[REQ-SCRATCH-4] nothing is written through a link that an earlier command left', async () => {
    symlinkSync(at('outside'), at('view/link'))
    symlinkSync(dir, at('view/folder'))
    await save([made('link', { type: 'link' }), made('folder', { type: 'link' })])
    rmSync(at('view/link'))
    rmSync(at('view/folder'))
    writeFileSync(at('view/link'), 'new')
    mkdirSync(at('view/folder'))
    writeFileSync(at('view/folder/outside'), 'new')
    await save([made('link'), made('folder/outside')])
    expect(readFileSync(at('outside'), 'utf8')).toBe('mine')
    expect(lstatSync(join(await files(), 'folder')).isDirectory()).toBe(true)
    expect(readFileSync(join(await files(), 'folder/outside'), 'utf8')).toBe('new')
  })

  it('[REQ-SCRATCH-4] a link in place of a file that was to be copied is not followed', async () => {
    rmSync(at('view/dist/x'))
    symlinkSync(at('outside'), at('view/dist/x'))
    expect(await save([made('dist', { type: 'directory' }), made('dist/x')])).toBe(false)
    expect(await layers.prepare('t', at('tree'))).toMatchObject({
      layer: null,
      note: expect.stringContaining('discarded'),
    })
    expect(await layers.prepare('t', at('tree'))).toEqual({ layer: null, note: null })
  })

  it('[REQ-SCRATCH-5] one path too many drops all of them', async () => {
    await save([made('dist', { type: 'directory' }), made('dist/x')])
    const many = Array.from({ length: SCRATCH_ENTRIES_MAX - 2 }, (_, i) => made(`many/${i}`))
    expect(layers.plan('t', many)?.dropped).toBeNull()
    const plan = layers.plan('t', [...many, made('one-more')])
    expect(plan?.dropped).toContain('20000 paths')
    if (plan !== null) await layers.save(plan, at('view'))
    expect(await layers.findFilesFolder('t')).toBeNull()
    expect(existsSync(at('layers'))).toBe(true)
  })

  it('[REQ-SCRATCH-5] when too many tasks have one, the oldest goes', async () => {
    for (let i = 0; i <= SCRATCH_LAYERS_MAX; i += 1)
      await save([made('dist', { type: 'directory' }), made('dist/x')], `t${i}`)
    expect(await layers.findFilesFolder('t0')).toBeNull()
    expect(await layers.findFilesFolder('t1')).not.toBeNull()
  })

  it('[REQ-SCRATCH-6] a layer of another start of the machine, or one that cannot be read, is not used', async () => {
    await save([made('dist', { type: 'directory' }), made('dist/x')])
    const about = join(await files(), '../about.json')
    for (const text of [readFileSync(about, 'utf8').replace(/"boot":"[^"]*"/, '"boot":"other"'), '{"taskId":"t","bo']) {
      await save([made('dist', { type: 'directory' }), made('dist/x')])
      writeFileSync(about, text)
      layers = new ScratchLayers(at('layers'))
      expect(await layers.prepare('t', at('tree'))).toMatchObject({ layer: null, note: expect.any(String) })
    }
  })

  it('[REQ-SCRATCH-6] the rest of an interrupted removal does not come back', async () => {
    await save([made('dist', { type: 'directory' }), made('dist/x')])
    rmSync(join(await files(), '../about.json'))
    layers = new ScratchLayers(at('layers'))
    writeFileSync(at('view/dist/y'), 'y')
    await save([made('dist', { type: 'directory' }), made('dist/y')])
    expect(existsSync(join(await files(), 'dist/x'))).toBe(false)
    expect(existsSync(join(await files(), 'dist/y'))).toBe(true)
  })

  it('[REQ-SCRATCH-8] a folder of the tree that became a link loses its layer', async () => {
    mkdirSync(at('view/src/.cache'), { recursive: true })
    mkdirSync(at('tree/src'))
    writeFileSync(at('view/src/.cache/c'), 'c')
    await save([made('src/.cache', { type: 'directory' }), made('src/.cache/c'), made('dist/x')])
    expect((await layers.prepare('t', at('tree'))).layer).not.toBeNull()
    rmSync(at('tree/src'), { recursive: true })
    symlinkSync(dir, at('tree/src'))
    await layers.prepare('t', at('tree'))
    expect(existsSync(join(await files(), 'src'))).toBe(false)
  })

  describe('with files that wait for their event', () => {
    const stage = async (task = 't'): Promise<void> => {
      const plan = layers.plan(task, [made('dist', { type: 'directory' }), made('dist/x')])
      if (plan === null) throw new Error('nothing to stage')
      expect(await layers.stage(plan, at('view'), { id: 'c', tree: at('tree'), taskId: task, version: 1 })).toBe(true)
    }
    const start = (): void => {
      layers = new ScratchLayers(at('layers'))
    }

    it('[REQ-WHOLE-9] uses them once the event is there, and not before', async () => {
      await stage()
      expect(await layers.prepare('t', at('tree'))).toEqual({ layer: null, note: null })
      await layers.applyStaged('t')
      expect(readFileSync(join(await files(), 'dist/x'), 'utf8')).toBe('x')
      expect(layers.findStaged('t')).toBeNull()
    })

    it('[REQ-WHOLE-9] keeps them over a start, for a task that is not over', async () => {
      await stage()
      start()
      await layers.sweep(async () => false)
      expect(await layers.listStaged()).toMatchObject([{ taskId: 't', id: 'c' }])
      await layers.applyStaged('t')
      expect(readFileSync(join(await files(), 'dist/x'), 'utf8')).toBe('x')
      await stage()
      await layers.sweep(async () => true)
      expect(await layers.listStaged()).toEqual([])
    })

    it('[REQ-WHOLE-9] drops them with a note after a power cut: they may be empty', async () => {
      await stage()
      const [name = ''] = readdirSync(at('layers'))
      const about = join(at('layers'), name, 'staged/about.json')
      writeFileSync(about, readFileSync(about, 'utf8').replace(/"boot":"[^"]*"/, '"boot":"other"'))
      start()
      await layers.applyStaged('t')
      expect(await layers.prepare('t', at('tree'))).toMatchObject({ layer: null, note: expect.any(String) })
      expect(await layers.prepare('t', at('tree'))).toEqual({ layer: null, note: null })
    })

    it('[REQ-WHOLE-9] does not take them for the oldest when there are too many', async () => {
      for (let i = 0; i < SCRATCH_LAYERS_MAX - 1; i += 1) await save([made('dist/x')], `t${i}`)
      await stage()
      await save([made('dist/x')], 'one more')
      expect(layers.findStaged('t')).not.toBeNull()
      expect(await layers.findFilesFolder('t0')).toBeNull()
    })
  })
})
