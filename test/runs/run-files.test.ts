import { lstatSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { RunFiles, runFolderName, runOfFolder } from '../../src/app/status/run-files.js'
import { isFullDepth } from '../depth.js'

let stateDir: string
let faults: unknown[]
let files: RunFiles

beforeEach(() => {
  stateDir = mkdtempSync(join(tmpdir(), 'phaselock-runs-'))
  faults = []
  files = new RunFiles(stateDir, (error) => faults.push(error))
})

afterEach(async () => {
  await files.close()
  rmSync(stateDir, { recursive: true, force: true })
})

const fileOf = (id: string): string => join(stateDir, 'runs', runFolderName(id), 'status.json')
const read = (id: string): unknown => JSON.parse(readFileSync(fileOf(id), 'utf8'))
const rest = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

async function until(holds: () => boolean, msMax = 5000): Promise<void> {
  const deadline = Date.now() + msMax
  while (!holds()) {
    if (Date.now() > deadline) throw new Error('it does not come to hold')
    await rest(5)
  }
}

function exists(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined
}

describe('ids that are not names of folders', () => {
  const HOSTILE = [
    '.',
    '..',
    '',
    '../..',
    '/etc',
    'a/b',
    'a/../../b',
    '\0',
    'a\nb',
    '%2e',
    'é',
    '\ud800',
    'x'.repeat(5000),
  ]

  test.each(HOSTILE)('[REQ-STATUS-1] %j has its own folder right below runs', (id) => {
    const name = runFolderName(id)
    expect(name).toMatch(/^[A-Za-z0-9_.%-]{1,255}$/)
    expect(['.', '..']).not.toContain(name)
  })

  test('[REQ-STATUS-1] different ids never share a folder', () => {
    const ids = [...HOSTILE, '2e', '%2e%2e', '2e2e', 'a', 'A', 'x'.repeat(64), 'x'.repeat(4999)]
    expect(new Set(ids.map(runFolderName)).size).toBe(ids.length)
  })

  test('[REQ-STATUS-1] the folder of a plain id has its name, and tells the id', () => {
    for (const id of ['task-1', '...', '.hidden', '-', '__proto__', 'A.b_c-9']) {
      expect(runFolderName(id)).toBe(id)
      expect(runOfFolder(id)).toBe(id)
    }
    expect(runOfFolder(runFolderName('..'))).toBe('..')
    expect(runOfFolder('%zz')).toBeNull()
    expect(runOfFolder(runFolderName('y'.repeat(900)))).toBeNull()
  })

  test('[REQ-STATUS-1] nothing is written outside of runs', async () => {
    for (const id of HOSTILE) files.put(id, () => ({ id: 'x' }))
    await files.flush()
    expect(faults).toEqual([])
    expect(readdirSync(stateDir)).toEqual(['runs'])
    expect(readdirSync(join(stateDir, 'runs'))).toHaveLength(HOSTILE.length)
    for (const name of readdirSync(join(stateDir, 'runs')))
      expect(readdirSync(join(stateDir, 'runs', name))).toEqual(['status.json'])
  })
})

describe('a disk that takes nothing', () => {
  test('[REQ-STATUS-2] a write failure is reported once and retried, and the newest status is written', async () => {
    writeFileSync(join(stateDir, 'runs'), 'no folder')
    for (let n = 0; n < 20; n += 1) files.put(`run-${n}`, () => ({ n: 'old' }))
    await files.flush()
    files.put('run-3', () => ({ n: 'new' }))
    await files.flush()
    expect(faults).toHaveLength(1)
    expect(String(faults[0])).toMatch(/status\.json of run run-\d+ cannot be written \(E[A-Z]+\)/)
    rmSync(join(stateDir, 'runs'))
    await until(() => exists(fileOf('run-3')) && exists(fileOf('run-19')))
    expect([read('run-3'), read('run-19')]).toEqual([{ n: 'new' }, { n: 'old' }])
    expect(faults).toHaveLength(1)
  })

  test('[REQ-STATUS-2] a folder that is in the way of one file leaves no temporary file and no other run behind', async () => {
    mkdirSync(join(fileOf('a'), 'in-the-way'), { recursive: true })
    files.put('a', () => ({ is: 'a' }))
    files.put('b', () => ({ is: 'b' }))
    await files.flush()
    expect(read('b')).toEqual({ is: 'b' })
    expect(readdirSync(join(stateDir, 'runs', 'a'))).toEqual(['status.json'])
    expect(faults).toHaveLength(1)
    rmSync(fileOf('a'), { recursive: true })
    await files.flush()
    expect(read('a')).toEqual({ is: 'a' })
  })

  test('[REQ-STATUS-2] a status that cannot be made is asked for again', async () => {
    let asked = 0
    files.put('a', () => {
      asked += 1
      if (asked === 1) throw new Error('the store is away')
      return { asked }
    })
    await files.flush()
    expect([exists(fileOf('a')), faults.length]).toEqual([true, 1])
    expect(read('a')).toEqual({ asked: 2 })
  })

  test('[REQ-STATUS-2] closing ends although nothing can be written', async () => {
    writeFileSync(join(stateDir, 'runs'), 'no folder')
    for (let n = 0; n < 200; n += 1) files.put(`run-${n}`, () => ({ n }))
    await files.close()
    expect(files.size).toBe(0)
  })
})

describe('when it is written', () => {
  test('[REQ-STATUS-3] the first change at once, then at most every 250 ms, the last one always', async () => {
    const written: { readonly n: number; readonly at: number }[] = []
    const began = Date.now()
    const put = (n: number): void =>
      files.put('a', () => {
        written.push({ n, at: Date.now() })
        return { n }
      })
    for (let n = 0; n < 120; n += 1) {
      put(n)
      await rest(5)
    }
    await until(() => exists(fileOf('a')) && (read('a') as { n: number }).n === 119)
    expect((written[0]?.at ?? 0) - began).toBeLessThan(100)
    expect(written[0]?.n).toBe(0)
    for (const [index, one] of written.entries())
      if (index > 0) expect(one.at - (written[index - 1]?.at ?? 0)).toBeGreaterThanOrEqual(248)
    expect(written.length).toBeGreaterThan(2)
  })

  test('[REQ-STATUS-3] closing writes what waits, and nothing is written after it', async () => {
    files.put('a', () => ({ n: 1 }))
    files.put('a', () => ({ n: 2 }))
    await until(() => exists(fileOf('a')))
    files.put('a', () => ({ n: 3 }))
    await files.close()
    files.put('a', () => ({ n: 4 }))
    await rest(300)
    expect(read('a')).toEqual({ n: 3 })
  })

  test('[REQ-STATUS-3] nothing is written of a run that has no status yet', async () => {
    files.put('a', () => null)
    await files.flush()
    expect(readdirSync(stateDir)).toEqual([])
  })
})

test('[REQ-STATUS-4] a reader finds the file whole, however often it changes', async () => {
  const filler = 'x'.repeat(100_000)
  let isOver = false
  let n = 0
  const change = async (): Promise<void> => {
    while (!isOver) {
      n += 1
      files.put('a', () => ({ n, filler, last: n }))
      await files.flush()
    }
  }
  const changing = change()
  await until(() => exists(fileOf('a')))
  for (let i = 0; i < 1000; i += 1) {
    const { n: first, last } = read('a') as { n: number; last: number }
    expect(first).toBe(last)
    if (i % 10 === 0) await rest(0)
  }
  isOver = true
  await changing
  expect(n).toBeGreaterThan(10)
})

test('[REQ-STATUS-5] only the owner can read the files and look into their folders', async () => {
  const before = process.umask(0)
  try {
    files.put('a', () => ({ n: 1 }))
    await files.flush()
  } finally {
    process.umask(before)
  }
  const modeOf = (path: string): string => (statSync(path).mode & 0o777).toString(8)
  expect([join(stateDir, 'runs'), join(stateDir, 'runs', 'a'), fileOf('a')].map(modeOf)).toEqual(['700', '700', '600'])
})

test.runIf(isFullDepth())(
  '[REQ-STATUS-6] runs that do not change are forgotten, and those that wait are bounded',
  async () => {
    for (let n = 0; n < 500; n += 1) files.put(`run-${n}`, () => ({ n }))
    expect(files.size).toBe(500)
    await until(() => files.size === 0, 60_000)
    writeFileSync(join(stateDir, 'blocked'), '')
    const blocked = new RunFiles(join(stateDir, 'blocked'), () => undefined)
    for (let n = 0; n < 20_000; n += 1) blocked.put(`run-${n}`, () => ({ n }))
    expect(blocked.size).toBe(10_000)
    await blocked.close()
  },
)
