import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { listTranscriptFolders } from '../../src/transcripts/folders.js'
import { readTranscript } from '../../src/transcripts/read-transcript.js'
import { startSwapping } from '../tree/swap.js'
import { claude, jsonl, Place } from './place.js'

const SWAPPING_MS = 700

const place = new Place()
const outside = mkdtempSync(join(tmpdir(), 'phaselock-outside-'))
afterAll(() => {
  place.remove()
  rmSync(outside, { recursive: true, force: true })
})

const good = jsonl(claude('secret', { input_tokens: 1, output_tokens: 1 }))
const path = place.path('claude-code')
const folder = dirname(path)
const root = dirname(folder)

beforeEach(() => {
  rmSync(root, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  writeFileSync(path, good)
  writeFileSync(join(outside, 'other.jsonl'), good)
})

const problem = async (asked: string, folders = place.folders) => {
  const reading = await readTranscript(asked, null, { folders })
  return reading.ok ? 'read' : reading.problem
}

describe('paths', () => {
  it('[REQ-TRANSCRIPT-8] nothing is read where no folder is allowed', async () => {
    expect(await problem(path, [])).toBe('outside')
    expect(await problem(path, [{ path: '', format: 'claude-code' }])).toBe('outside')
    expect(await problem(path, [{ path: '/', format: 'claude-code' }])).toBe('outside')
    expect(await problem(path, [{ path: 'relative', format: 'claude-code' }])).toBe('outside')
  })

  it('[REQ-TRANSCRIPT-8] a path that is not below an allowed folder is refused, however it is written', async () => {
    const up = `${root}/../../../..${outside}`
    for (const asked of [
      join(outside, 'other.jsonl'),
      '/etc/passwd',
      '/proc/self/environ',
      '',
      'one.jsonl',
      root,
      `${root}/`,
      `${root}-other/one.jsonl`,
      `${up}/other.jsonl`,
      `${root}/../projects/-home-dev-project/one.jsonl`,
      `${folder}/./one.jsonl`,
      `${folder}//one.jsonl`,
      `${folder}/one.jsonl\0.jsonl`,
      `${folder}/${'x/'.repeat(100)}one.jsonl`,
      `${folder}/${'x'.repeat(5000)}.jsonl`,
    ])
      expect(await problem(asked), asked).toBe('outside')
  })

  it('[REQ-TRANSCRIPT-8] a file in an allowed folder that is called otherwise than a transcript is refused', async () => {
    writeFileSync(join(folder, 'credentials.json'), good)
    expect(await problem(join(folder, 'credentials.json'))).toBe('outside')
  })

  it('[REQ-TRANSCRIPT-8] the transcripts of Claude Code, Codex and Gemini are found where they keep them', async () => {
    for (const format of ['claude-code', 'codex', 'gemini'] as const)
      expect(await problem(place.write(format, '{}\n'))).toBe('read')
    expect(
      listTranscriptFolders('/home/dev', { claudeConfigDir: '/c', codexHome: '/x' }).map((one) => one.path),
    ).toEqual(['/c/projects', '/x/sessions', '/home/dev/.gemini/tmp'])
  })

  it('[REQ-TRANSCRIPT-8] what is in the folder of one agent is never read as the transcript of another', async () => {
    const reading = await place.read(place.write('codex', good))
    expect(reading.usage).toEqual([])
    expect(reading.cursor.format).toBe('codex')
  })
})

describe('things that are not files', () => {
  it('[REQ-TRANSCRIPT-8] a file or folder that is not there is missing', async () => {
    expect(await problem(join(folder, 'two.jsonl'))).toBe('missing')
    expect(await problem(join(root, 'nowhere', 'one.jsonl'))).toBe('missing')
    expect(await problem(`${folder}/${'x'.repeat(300)}.jsonl`)).toBe('missing')
    rmSync(root, { recursive: true })
    expect(await problem(path)).toBe('missing')
  })

  it('[REQ-TRANSCRIPT-8] a link is refused, wherever it leads and whichever part of the path it is', async () => {
    symlinkSync(join(outside, 'other.jsonl'), join(folder, 'link.jsonl'))
    symlinkSync('one.jsonl', join(folder, 'near.jsonl'))
    symlinkSync('nowhere', join(folder, 'dangling.jsonl'))
    symlinkSync(outside, join(root, 'linked'))
    for (const name of ['link.jsonl', 'near.jsonl', 'dangling.jsonl'])
      expect(await problem(join(folder, name)), name).toBe('not_a_file')
    expect(await problem(join(root, 'linked', 'other.jsonl'))).toBe('not_a_file')
  })

  it('[REQ-TRANSCRIPT-8] a directory, a pipe, a socket and a device are refused at once', async () => {
    mkdirSync(join(folder, 'directory.jsonl'))
    execFileSync('mkfifo', [join(folder, 'pipe.jsonl')])
    const server = createServer()
    await new Promise<void>((listening) => server.listen(join(folder, 'socket.jsonl'), listening))
    for (const name of ['directory.jsonl', 'pipe.jsonl', 'socket.jsonl'])
      expect(await problem(join(folder, name)), name).toBe('not_a_file')
    await new Promise((closed) => server.close(closed))
    expect(await problem(join(path, 'below.jsonl'))).toBe('not_a_file')
  })

  it.skipIf(process.getuid?.() !== 0)(
    '[REQ-TRANSCRIPT-8] a device that is called a transcript is refused',
    async () => {
      execFileSync('mknod', [join(folder, 'zero.jsonl'), 'c', '1', '5'])
      expect(await problem(join(folder, 'zero.jsonl'))).toBe('not_a_file')
    },
  )

  it.skipIf(process.getuid?.() !== 0)(
    '[REQ-TRANSCRIPT-8] a second name for a file of somebody else is refused, one for a file of the same owner is read',
    async () => {
      linkSync(join(outside, 'other.jsonl'), join(folder, 'hard.jsonl'))
      expect(await problem(join(folder, 'hard.jsonl'))).toBe('read')
      chownSync(join(outside, 'other.jsonl'), 12345, 12345)
      expect(await problem(join(folder, 'hard.jsonl'))).toBe('foreign')
      unlinkSync(join(folder, 'hard.jsonl'))
      rmSync(join(outside, 'other.jsonl'))
    },
  )

  it('[REQ-TRANSCRIPT-8] a file that may not be read is unreadable', async () => {
    chmodSync(path, 0)
    // Root may read everything: for a moment this process is somebody else.
    const isRoot = process.getuid?.() === 0
    if (isRoot) process.seteuid?.(65534)
    try {
      expect(await problem(path)).toBe('unreadable')
    } finally {
      if (isRoot) process.seteuid?.(0)
    }
  })
})

describe('changes while a transcript is read', () => {
  const inside = 'secret req_secret'
  const readWhile = async (first: string, second: string) => {
    const swapping = await startSwapping(first, second)
    const seen = new Map<string, number>()
    let swaps = 0
    try {
      const until = Date.now() + SWAPPING_MS
      while (Date.now() < until) {
        const reading = await readTranscript(path, null, { folders: place.folders })
        const what = reading.ok ? reading.usage.map((usage) => usage.id).join() : reading.problem
        seen.set(what, (seen.get(what) ?? 0) + 1)
      }
    } finally {
      swaps = await swapping.stop()
    }
    expect(swaps).toBeGreaterThan(100)
    return [...seen.keys()].sort()
  }

  it('[REQ-TRANSCRIPT-8] a folder that another process swaps for a link never leads outside', async () => {
    writeFileSync(join(outside, 'one.jsonl'), jsonl(claude('outside', { input_tokens: 1, output_tokens: 1 })))
    symlinkSync(outside, join(root, 'spare'))
    const seen = await readWhile(folder, join(root, 'spare'))
    expect(seen).toContain(inside)
    expect(seen.filter((what) => ![inside, 'not_a_file', 'missing'].includes(what))).toEqual([])
  })

  it('[REQ-TRANSCRIPT-8] a file that another process swaps for a link or a pipe is read as itself or refused', async () => {
    writeFileSync(join(outside, 'one.jsonl'), jsonl(claude('outside', { input_tokens: 1, output_tokens: 1 })))
    symlinkSync(join(outside, 'one.jsonl'), join(folder, 'link'))
    execFileSync('mkfifo', [join(folder, 'pipe')])
    for (const other of ['link', 'pipe']) {
      const seen = await readWhile(path, join(folder, other))
      expect(seen).toContain(inside)
      expect(seen.filter((what) => ![inside, 'not_a_file', 'missing'].includes(what))).toEqual([])
      rmSync(path)
      rmSync(join(folder, other))
      writeFileSync(path, good)
    }
  })

  it('[REQ-TRANSCRIPT-8] a file that vanishes between two calls is missing, and no descriptor is left open', async () => {
    const open = () => readdirSync('/proc/self/fd').length
    const first = await place.read(path)
    const before = open()
    for (let round = 0; round < 50; round += 1) {
      expect(await readTranscript(join(folder, 'gone.jsonl'), first.cursor, { folders: place.folders })).toEqual({
        ok: false,
        problem: 'missing',
      })
      await problem(folder)
      await place.read(path, first.cursor)
    }
    expect(open()).toBeLessThanOrEqual(before + 2)
  })
})
