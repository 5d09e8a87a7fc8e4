import { availableParallelism } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { defineConfig } from 'vitest/config'
import { isBuilt } from './scripts/prepare.mjs'
import { isFullDepth } from './test/depth.js'
import { LongestFirst } from './test/longest-first.js'
import { findFilesBelow, findNamedFiles, sortIntoSuites } from './test/suites.js'

const suites = sortIntoSuites()
const words = process.argv.slice(2)
// Files that only the full run has, and that the command line names.
const named = isFullDepth() ? [] : findNamedFiles(suites.full, words)
const leftOut = isFullDepth() ? [] : findFilesBelow(suites.full, words).filter((file) => !named.includes(file))
if (leftOut.length > 0)
  console.error(`Left out, only the full run has them: ${leftOut.join(', ')}. Name a file to run it.`)

// Tests in these folders leave nothing behind in their process, and loading the program takes longer than most of them:
// they share processes. Every other integration test gets its own process.
const SHARED_FOLDERS = [
  ...['attack', 'checks', 'cli', 'contract', 'coordination', 'core', 'docs', 'doors', 'hooks', 'http', 'knowledge'],
  ...['mcp', 'operators', 'participants', 'store', 'tools', 'transcripts', 'tree'],
  ...['confinement', 'e2e', 'forgery', 'lying', 'sdk', 'spawn', 'webhooks', 'worktrees'],
]
const integration = [...suites.integration, ...(isFullDepth() ? suites.full : [])]
const isShared = (file: string): boolean => SHARED_FOLDERS.includes(file.split('/')[1] ?? '')

const SOURCE = join(import.meta.dirname, 'src/')
const BUILT = join(import.meta.dirname, 'dist/')

// Tests load the compiled program unless a source file is newer: Node.js loads it as it is, and nothing is transformed.
const fromBuild = {
  name: 'from-build',
  enforce: 'pre' as const,
  resolveId(source: string, importer: string | undefined) {
    if (importer === undefined || !source.startsWith('.')) return null
    const path = resolve(dirname(importer), source)
    return path.startsWith(SOURCE) ? join(BUILT, path.slice(SOURCE.length)) : null
  },
}
const plugins = isBuilt() ? [fromBuild] : []
const common = {
  pool: 'forks' as const,
  server: { deps: { external: [/\/dist\//] } },
  testTimeout: 300_000,
  hookTimeout: 300_000,
  expect: { poll: { timeout: 60_000 } },
}

export default defineConfig({
  test: {
    // Integration tests often wait for processes and clocks.
    maxWorkers: availableParallelism() + 4,
    sequence: { sequencer: LongestFirst },
    projects: [
      { plugins, test: { ...common, name: 'unit', include: [...suites.unit], isolate: false } },
      { plugins, test: { ...common, name: 'shared', include: integration.filter(isShared), isolate: false } },
      { plugins, test: { ...common, name: 'separate', include: integration.filter((file) => !isShared(file)) } },
      { plugins, test: { ...common, name: 'named', include: [...named], env: { PHASELOCK_DEPTH: 'full' } } },
    ],
  },
})
