import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { FileLock } from '../../src/store/shared-trees/file-lock.js'
import { refuseUnshared, takeSharedFolder } from '../../src/store/shared-trees/shared-folder.js'
import { NodeFence } from '../../src/store/shared-trees/tree-fence.js'
import { StoreUnavailable } from '../../src/store/store.js'
import { temporaryDirectory } from './events.js'

const NODE = 'node-0123456789ab'
const LOCK_FILE = new URL('../../dist/store/shared-trees/file-lock.js', import.meta.url).href

function makePlaces() {
  const dir = temporaryDirectory()
  const places = { stateDir: join(dir, 'state'), workspace: join(dir, 'tree') }
  for (const made of Object.values(places)) mkdirSync(made)
  return { dir, ...places, shared: join(dir, 'shared') }
}

const refusal = (words: RegExp) =>
  expect.objectContaining({ name: 'StoreRefused', message: expect.stringMatching(words) })

describe('the folder of shared trees', () => {
  test('[REQ-SHARED-1] inside a work tree, inside a state directory and around them it is refused', () => {
    const { dir, shared: _, ...places } = makePlaces()
    for (const [folder, words] of [
      [join(places.workspace, 'shared'), /is inside the work tree .*--shared-trees/],
      [places.workspace, /is inside the work tree/],
      [join(places.stateDir, 'shared'), /is inside the state directory/],
      [dir, /contains the state directory/],
    ] as const) {
      expect(() => takeSharedFolder(folder, places)).toThrow(refusal(words))
      expect(existsSync(join(folder, 'shared.id'))).toBe(false)
    }
    symlinkSync(places.workspace, join(dir, 'way'))
    expect(() => takeSharedFolder(join(dir, 'way', 'shared'), places)).toThrow(refusal(/is inside the work tree/))
  })

  test('[REQ-SHARED-1] a link, a file and a folder of another account are refused, and others lose their rights', () => {
    const { dir, shared, ...places } = makePlaces()
    mkdirSync(join(dir, 'real'))
    symlinkSync(join(dir, 'real'), join(dir, 'link'))
    expect(() => takeSharedFolder(join(dir, 'link'), places)).toThrow(refusal(/is a link.*--shared-trees .*real/))
    writeFileSync(join(dir, 'file'), '')
    expect(() => takeSharedFolder(join(dir, 'file'), places)).toThrow(refusal(/is not a folder/))
    mkdirSync(shared)
    chmodSync(shared, 0o755)
    expect(takeSharedFolder(shared, places).closed).toEqual([expect.stringMatching(/was 0755 and is 0700 now/)])
    expect(statSync(shared).mode & 0o777).toBe(0o700)
    if (process.getuid?.() !== 0) return
    mkdirSync(join(dir, 'foreign'))
    chownSync(join(dir, 'foreign'), 65_534, 65_534)
    expect(() => takeSharedFolder(join(dir, 'foreign'), places)).toThrow(refusal(/belongs to another account/))
  })

  test('[REQ-SHARED-2] a node is not started with another folder or without one, and is told which it is', () => {
    const { dir, shared, ...places } = makePlaces()
    const { id } = takeSharedFolder(shared, places)
    expect(() => refuseUnshared(places.stateDir)).toThrow(refusal(/Start it with --shared-trees .*\/shared$/))
    expect(() => takeSharedFolder(join(dir, 'other'), places)).toThrow(
      refusal(/Start it with --shared-trees .*\/shared$/),
    )
    expect(takeSharedFolder(shared, places).id).toBe(id)
    const second = makePlaces()
    expect(takeSharedFolder(shared, second).id).toBe(id)
    writeFileSync(join(shared, 'shared.id'), `${id}\n/mnt/elsewhere\n`)
    expect(() => takeSharedFolder(shared, places)).toThrow(refusal(/\/mnt\/elsewhere for the node that made it/))
    writeFileSync(join(shared, 'shared.id'), 'nonsense\n')
    expect(() => takeSharedFolder(shared, places)).toThrow(refusal(/is not the id/))
  })

  test('[REQ-SHARED-2] what a node kept before goes along, and what is there stays', () => {
    const { shared, ...places } = makePlaces()
    const second = makePlaces()
    for (const [stateDir, name] of [
      [places.stateDir, 'a'],
      [second.stateDir, 'b'],
    ] as const) {
      mkdirSync(join(stateDir, 'trees', 'objects'), { recursive: true })
      writeFileSync(join(stateDir, 'trees', `${name}.journal`), name)
      writeFileSync(join(stateDir, 'trees', 'both.journal'), name)
      writeFileSync(join(stateDir, 'trees', 'objects', name), name)
    }
    const { keptDir } = takeSharedFolder(shared, places)
    takeSharedFolder(shared, second)
    const read = (name: string) => readFileSync(join(keptDir, 'trees', name), 'utf8')
    expect(['a.journal', 'b.journal', 'both.journal', 'objects/a', 'objects/b'].map(read)).toEqual([
      'a',
      'b',
      'a',
      'a',
      'b',
    ])
  })
})

describe('the lock of a node', () => {
  test('[REQ-SHARED-3] another process does not get it, and kill -9 frees it', async () => {
    const path = join(temporaryDirectory(), `${NODE}.lock`)
    const lock = new FileLock(path)
    expect(await lock.take(0)).toBe(true)
    lock.release()
    const program = `const { FileLock } = await import('${LOCK_FILE}')
      const lock = new FileLock('${path}')
      console.log(await lock.take(0))
      setInterval(() => lock, 1000)`
    const child = spawn(process.execPath, ['--input-type=module', '-e', program], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    await once(child.stdout, 'data')
    expect(await lock.take(200)).toBe(false)
    child.kill('SIGSTOP')
    expect(await lock.take(200)).toBe(false)
    child.kill('SIGKILL')
    await once(child, 'exit')
    expect(await lock.take(1_000)).toBe(true)
    lock.close()
  })

  test('[REQ-SHARED-3] a tree is changed only with the lock, and after the database was asked', async () => {
    const path = join(temporaryDirectory(), `${NODE}.lock`)
    const [own, other] = [new FileLock(path), new FileLock(path)]
    const said: string[] = []
    let holds = true
    const confirmLease = async () => {
      said.push((await other.take(0)) ? 'unlocked' : 'asked')
      if (!holds) throw new StoreUnavailable('adopted')
    }
    const fence = new NodeFence(own, { nodeId: NODE, confirmLease }, 200)
    expect(() => fence.requireHeld()).toThrow(/outside of its fence/)
    await fence.run(async () => {
      fence.requireHeld()
      await Promise.all([fence.run(async () => said.push('one')), fence.run(async () => said.push('two'))])
      expect(await other.take(0)).toBe(false)
    })
    expect(said).toEqual(['asked', 'one', 'two'])
    expect(() => fence.requireHeld()).toThrow()
    // Who adopts it has the lock: it waits, and is refused afterwards.
    expect(await other.take(0)).toBe(true)
    const work = async () => said.push('written')
    await expect(fence.run(work)).rejects.toThrow(/is being adopted/)
    holds = false
    const waiting = expect(fence.run(work)).rejects.toThrow('adopted')
    other.release()
    await waiting
    await expect(fence.run(work)).rejects.toThrow('adopted')
    expect(said).not.toContain('written')
    holds = true
    await fence.run(work)
    expect(said.at(-1)).toBe('written')
    for (const lock of [own, other]) lock.close()
  })
})
