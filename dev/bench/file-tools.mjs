// The file tools against plain calls of node:fs that do the same work without any protection.
import { createHash } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { open, readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { alternate, line, medians, round } from './measure.mjs'
import { place } from './servers.mjs'

const RUN_MS = 600
const FILES = 64
const FOLDER = 'packages/server/src'
const TEXT = Array.from({ length: 200 }, (_, i) => `const value${i} = compute(${i}) // a line of code\n`).join('')

export async function benchFileTools({ rounds }) {
  const { readFiles } = await import('../../dist/tools/files/read-files.js')
  const { writeFiles } = await import('../../dist/tools/files/write-files.js')
  const { editFiles } = await import('../../dist/tools/files/edit-files.js')
  const at = place()
  const root = join(at.dir, 'tree')
  mkdirSync(join(root, FOLDER), { recursive: true })
  const path = (i) => `${FOLDER}/file-${i % FILES}.ts`
  for (let i = 0; i < FILES; i += 1) writeFileSync(join(root, path(i)), TEXT)
  const tools = { root, isHidden: () => false, signal: new AbortController().signal }
  const must = (outcome) => {
    if (!outcome.ok) throw new Error(outcome.detail)
  }
  const edits = (i) => [{ old: `value${i % 200} =`, new: `value${i % 200}  =` }]
  const undo = (i) => [{ old: `value${i % 200}  =`, new: `value${i % 200} =` }]
  const plainEdit = async (i, [{ old, new: next }]) => {
    const text = await readFile(join(root, path(i)), 'utf8')
    await durable(join(root, path(i)), text.replace(old, next))
  }
  try {
    const results = await alternate(rounds, {
      read: () => perSecond(async (i) => must(await readFiles(tools, { path: path(i) }))),
      plainRead: () => perSecond((i) => readFile(join(root, path(i)), 'utf8')),
      write: () => perSecond(async (i) => must(await writeFiles(tools, { path: path(i), content: TEXT }))),
      plainWrite: () => perSecond((i) => durable(join(root, path(i)), TEXT)),
      hastyWrite: () => perSecond((i) => writeFile(join(root, path(i)), TEXT)),
      edit: () =>
        perSecond(async (i) => {
          must(await editFiles(tools, { path: path(i), edits: edits(i) }))
          must(await editFiles(tools, { path: path(i), edits: undo(i) }))
        }, 2),
      plainEdit: () =>
        perSecond(async (i) => {
          await plainEdit(i, edits(i))
          await plainEdit(i, undo(i))
        }, 2),
    })
    const speed = medians(results)
    const against = (name, value, baseline) =>
      line(name, {
        value: `${round(speed[value])}/s`,
        baseline: `${round(speed[baseline])}/s`,
        ratio: round(speed[value] / speed[baseline]),
      })
    return {
      lines: [
        against('read_files, against readFile', 'read', 'plainRead'),
        against('write_files, against write, fsync, rename and fsync of the directory', 'write', 'plainWrite'),
        against('write_files, against writeFile without any fsync', 'write', 'hastyWrite'),
        against('edit_files, against readFile, replace and a durable write', 'edit', 'plainEdit'),
      ],
    }
  } finally {
    at.remove()
  }
}

async function perSecond(work, each = 1) {
  const start = performance.now()
  let count = 0
  while (performance.now() - start < RUN_MS) {
    await work(count)
    count += 1
  }
  return (count * each * 1000) / (performance.now() - start)
}

async function durable(path, text) {
  const file = await open(`${path}.tmp`, 'wx')
  try {
    await file.writeFile(text)
    createHash('sha256').update(text).digest('hex')
    await file.sync()
  } finally {
    await file.close()
  }
  await rename(`${path}.tmp`, path)
  const directory = await open(join(path, '..'), 'r')
  await directory.sync()
  await directory.close()
}
