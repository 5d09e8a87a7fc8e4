// Measures how the source reads: files in a folder, exports, casts, import cycles, lines.
//
//   node dev/measure-code.mjs           the numbers, as JSON
//   ROOT=DIR node dev/measure-code.mjs  another checkout
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { env, stdout } from 'node:process'

const ROOT = resolve(env.ROOT ?? new URL('..', import.meta.url).pathname)
const SOURCE = ['src', 'sdk/typescript/src']
const OTHERS = ['test', 'dev', 'bench', 'mutation', 'scripts', 'examples', 'demo']
const FOLDERS_SHOWN = 12

const sources = readFiles(SOURCE, /\.ts$/)
const codes = new Map([...sources].map(([file, text]) => [file, omitComments(text)]))
const words = new Map([...sources].map(([file, text]) => [file, new Set(text.match(/[\w$]+/g))]))
const otherWords = new Set(
  [...readFiles(OTHERS, /\.(ts|mjs)$/).values()].flatMap((text) => text.match(/[\w$]+/g) ?? []),
)

const ownExports = listOwnExports()
const result = {
  files: sources.size,
  lines: sum([...sources.values()].map((text) => text.split('\n').length - 1)),
  codeLines: sum([...codes.values()].map((code) => code.split('\n').filter((line) => line.trim() !== '').length)),
  largestFolders: countFolders().slice(0, FOLDERS_SHOWN),
  exportsUsedOnlyInOwnFile: ownExports.length,
  ofTheseNotInTests: ownExports.filter((name) => !otherWords.has(name)).length,
  castsThroughUnknown: sum([...codes.values()].map((code) => code.match(/as unknown as|<unknown>/g)?.length ?? 0)),
  importCycles: findCycles(buildGraph()).map((files) => files.toSorted()),
}
stdout.write(`${JSON.stringify(result, null, 1)}\n`)

function readFiles(folders, pattern) {
  const files = folders
    .filter((folder) => existsSync(join(ROOT, folder)))
    .flatMap((folder) =>
      readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
        .filter((name) => pattern.test(name) && !name.includes('node_modules'))
        .map((name) => join(folder, name)),
    )
  return new Map(files.map((file) => [file, readFileSync(join(ROOT, file), 'utf8')]))
}

function omitComments(text) {
  return text.replace(/\/\*[\s\S]*?\*\//g, '').replace(/(^|\s)\/\/.*$/gm, '$1')
}

function sum(numbers) {
  return numbers.reduce((total, number) => total + number, 0)
}

function countFolders() {
  const counts = {}
  for (const file of sources.keys()) counts[dirname(file)] = (counts[dirname(file)] ?? 0) + 1
  return Object.entries(counts).sort((one, other) => other[1] - one[1])
}

/** Exports that no other source file names. */
function listOwnExports() {
  return [...codes].flatMap(([file, code]) =>
    [
      ...code.matchAll(
        /^export (?:declare |abstract |async )*(?:function\*?|const|let|class|interface|type|enum) ([\w$]+)/gm,
      ),
    ]
      .map(([, name]) => name)
      .filter((name) => ![...words].some(([other, known]) => other !== file && known.has(name))),
  )
}

/** Every file with the files that it imports, types included. */
function buildGraph() {
  return new Map(
    [...codes].map(([file, code]) => {
      const imported = [...code.matchAll(/from '(\.[^']+)'|import\('(\.[^']+)'\)/g)].map((match) =>
        relative(ROOT, resolve(ROOT, dirname(file), (match[1] ?? match[2]).replace(/\.js$/, '.ts'))),
      )
      return [file, new Set(imported.filter((target) => sources.has(target)))]
    }),
  )
}

/** Groups of files that import each other (Tarjan). */
function findCycles(graph) {
  const found = []
  const stack = []
  const index = new Map()
  const low = new Map()
  const visit = (file) => {
    index.set(file, index.size)
    low.set(file, index.get(file))
    stack.push(file)
    for (const next of graph.get(file)) {
      if (!index.has(next)) {
        visit(next)
        low.set(file, Math.min(low.get(file), low.get(next)))
      } else if (stack.includes(next)) low.set(file, Math.min(low.get(file), index.get(next)))
    }
    if (low.get(file) !== index.get(file)) return
    const group = stack.splice(stack.indexOf(file))
    if (group.length > 1) found.push(group)
  }
  for (const file of graph.keys()) if (!index.has(file)) visit(file)
  return found
}
