// Puts the built program and the packages that it loads into few files: loading some hundred modules one by one takes longer
// than everything else that the server does at its start.
import { join } from 'node:path'
import { build } from 'rolldown'
import { ROOT } from './prepare.mjs'

// Native code, and packages that few need: those are loaded from where they are, on first use.
const APART = [
  '@photostructure/sqlite',
  '@ai-sdk/anthropic',
  '@ai-sdk/openai-compatible',
  '@modelcontextprotocol/client',
  'echarts',
  'gpt-tokenizer',
]
const isApart = (id) => APART.some((name) => id === name || id.startsWith(`${name}/`))

await build({
  input: join(ROOT, 'dist/cli/main.js'),
  platform: 'node',
  external: isApart,
  logLevel: 'warn',
  output: {
    // As deep as the folders of dist: paths from one's own place lead to the same files as there.
    dir: join(ROOT, 'dist/program'),
    format: 'esm',
    entryFileNames: '[name].js',
    chunkFileNames: '[name].js',
    // A server that runs while its files are built anew loads what it has not loaded yet by the names that it knows.
    minifyInternalExports: false,
  },
})
