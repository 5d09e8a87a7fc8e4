// Puts the built program and the packages that it loads into few files: loading some hundred modules one by one takes longer
// than everything else that the server does at its start, and whoever installs the program installs no package for them.
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { build } from 'rolldown'
import { listPacked, listPackedSdk } from './packed-list.mjs'
import { ROOT } from './prepare.mjs'
import { listPackageFolders, renderLicenses } from './third-party.mjs'

// Native code.
const APART = Object.keys(JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')).dependencies)
const DIST = join(ROOT, 'dist')
const PROGRAM = join(DIST, 'program')
const PARSERS = join(ROOT, 'node_modules/@vscode/tree-sitter-wasm')
// The parser, and a grammar for each `Language` of src/inverter/types.ts.
const GRAMMARS = ['', '-javascript', '-typescript', '-tsx', '-python', '-go', '-rust'].map(
  (language) => `tree-sitter${language}.wasm`,
)
// A thread that every server starts costs less when it loads one file, and that without the loader of modules.
const THREADS = [
  'store/write/writer-worker',
  'store/postgres/postgres-writer-worker',
  'store/read/reader-worker',
  'tree/index-worker',
]
const ENTRIES = {
  main: 'cli/main',
  // Threads that few servers start: they share files with the program.
  'file-worker': 'tools/files/file-worker',
  'invert-worker': 'inverter/invert-worker',
  'knowledge-worker': 'knowledge/knowledge-worker',
  // `exports` of package.json.
  core: 'core/index',
  orchestrator: 'app/orchestrator',
}
const TYPES = ['dist/core/index.d.ts', 'dist/app/orchestrator.d.ts']
const isApart = (id) => APART.some((name) => id === name || id.startsWith(`${name}/`))

const { output } = await build({
  write: false,
  input: Object.fromEntries(Object.entries(ENTRIES).map(([name, path]) => [name, join(DIST, `${path}.js`)])),
  platform: 'node',
  external: isApart,
  // Its main file loads others in a way that no bundler follows.
  resolve: { alias: { 'jsonc-parser': join(ROOT, 'node_modules/jsonc-parser/lib/esm/main.js') } },
  logLevel: 'warn',
  // Fastify loads pino at once; the program alone would not.
  checks: { ineffectiveDynamicImport: false },
  output: {
    // As deep as the folders of dist: paths from one's own place lead to the same files as there.
    dir: PROGRAM,
    format: 'esm',
    entryFileNames: '[name].js',
    chunkFileNames: '[name].js',
    // A server that runs while its files are built anew loads what it has not loaded yet by the names that it knows.
    minifyInternalExports: false,
  },
})

const threads = (await Promise.all(THREADS.map(bundleThread))).flat()

copyParsers()
const dashboard = JSON.parse(readFileSync(join(DIST, 'dashboard.json'), 'utf8'))
const folders = new Set([
  PARSERS,
  ...listPackageFolders([...output, ...threads]),
  ...dashboard.packages.map((path) => join(ROOT, path)),
])
writeFileSync(join(DIST, 'THIRD_PARTY_LICENSES'), `${renderLicenses([...folders])}\n`)

// A process that loads a file meanwhile gets the whole of it, old or new: an empty one would load as well.
// The file that tells whether the program is built comes last.
for (const file of threads) replace(join(DIST, 'threads'), file)
const isMain = (file) => file.fileName === 'main.js'
for (const file of output.toSorted((a, b) => Number(isMain(a)) - Number(isMain(b)))) replace(PROGRAM, file)
listPacked(DIST, [
  'THIRD_PARTY_LICENSES',
  ...output.map(({ fileName }) => `program/${fileName}`),
  ...threads.map(({ fileName }) => `threads/${fileName}`),
  ...['tree-sitter.cjs', ...GRAMMARS].map((name) => `parsers/${name}`),
  ...dashboard.files.map((name) => `dashboard/${name}`),
  ...listDeclarations(TYPES.map((path) => join(ROOT, path))).map((path) => relative(DIST, path)),
])
listPackedSdk()
if (process.env.npm_config_loglevel !== 'silent') process.stderr.write('Built: bin/phaselock is ready.\n')

async function bundleThread(name) {
  const { output } = await build({
    write: false,
    input: join(DIST, `${name}.js`),
    platform: 'node',
    external: isApart,
    logLevel: 'warn',
    output: { format: 'cjs', entryFileNames: '[name].cjs', codeSplitting: false },
  })
  return output
}

/** The parser loads its own WebAssembly, and a grammar for each language, from the folder that it is in. */
function copyParsers() {
  const copy = (name, fileName) =>
    replace(join(DIST, 'parsers'), { fileName, source: readFileSync(join(PARSERS, 'wasm', name)) })
  // Next to modules, a file that uses `require` needs this ending.
  copy('tree-sitter.js', 'tree-sitter.cjs')
  for (const name of GRAMMARS) copy(name, name)
}

/** The files of declarations that these files need. They may name no package: it would not be installed. */
function listDeclarations(files) {
  const found = new Set(files)
  for (const file of found) {
    for (const [, name] of readFileSync(file, 'utf8').matchAll(/\b(?:from|import\()\s*['"]([^'"]+)['"]/g)) {
      if (name.startsWith('.')) found.add(join(dirname(file), name.replace(/\.js$/, '.d.ts')))
      else if (!name.startsWith('node:'))
        throw new Error(`${file} names ${name}, which is not installed with the package`)
    }
  }
  return [...found]
}

function replace(folder, file) {
  mkdirSync(folder, { recursive: true })
  const path = join(folder, file.fileName)
  writeFileSync(`${path}.new`, file.type === 'chunk' ? file.code : file.source)
  renameSync(`${path}.new`, path)
}
