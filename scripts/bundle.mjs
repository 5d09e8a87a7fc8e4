// Puts the built program and the packages that it loads into few files: loading some hundred modules one by one takes longer
// than everything else that the server does at its start.
import { mkdirSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { build } from 'rolldown'
import { ROOT } from './prepare.mjs'

// Native code, and packages that few need: those are loaded from where they are, on first use.
const APART = [
  '@photostructure/sqlite',
  '@ai-sdk/anthropic',
  '@ai-sdk/openai-compatible',
  '@modelcontextprotocol/client',
  '@opentelemetry',
  'pino',
  '@vscode/tree-sitter-wasm',
  'echarts',
  'gpt-tokenizer',
]
const PROGRAM = join(ROOT, 'dist/program')
// A thread costs less to start when it loads one file, and that without the loader of modules.
const THREADS = [
  'store/write/writer-worker',
  'store/postgres/postgres-writer-worker',
  'store/read/reader-worker',
  'tree/index-worker',
]
const isApart = (id) => APART.some((name) => id === name || id.startsWith(`${name}/`))

const { output } = await build({
  write: false,
  input: join(ROOT, 'dist/cli/main.js'),
  platform: 'node',
  external: isApart,
  // Its main file loads others in a way that no bundler follows.
  resolve: { alias: { 'jsonc-parser': join(ROOT, 'node_modules/jsonc-parser/lib/esm/main.js') } },
  logLevel: 'warn',
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

const threads = await Promise.all(THREADS.map(bundleThread))

// A process that loads a file meanwhile gets the whole of it, old or new: an empty one would load as well.
// The file that tells whether the program is built comes last.
for (const file of threads.flat()) replace(join(ROOT, 'dist/threads'), file)
const isEntry = (file) => file.type === 'chunk' && file.isEntry
for (const file of output.toSorted((a, b) => Number(isEntry(a)) - Number(isEntry(b)))) replace(PROGRAM, file)
if (process.env.npm_config_loglevel !== 'silent') process.stderr.write('Built: bin/phaselock is ready.\n')

async function bundleThread(name) {
  const { output } = await build({
    write: false,
    input: join(ROOT, `dist/${name}.js`),
    platform: 'node',
    external: isApart,
    logLevel: 'warn',
    output: { format: 'cjs', entryFileNames: '[name].cjs', codeSplitting: false },
  })
  return output
}

function replace(folder, file) {
  mkdirSync(folder, { recursive: true })
  const path = join(folder, file.fileName)
  writeFileSync(`${path}.new`, file.type === 'chunk' ? file.code : file.source)
  renameSync(`${path}.new`, path)
}
