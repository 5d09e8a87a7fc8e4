import { availableParallelism } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'
import { isBuilt } from './scripts/prepare.mjs'
import { isFullDepth } from './test/depth.js'
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

// The longest files start first, so that no worker is left alone with one of them at the end.
const LONGEST = [
  ...['http/baseline', 'confinement/wall', 'cli/serve', 'cli/local', 'http/long-gates'],
  ...[
    'forgery/jest',
    'launch/other-clis',
    'launch/codex',
    'launch/claude',
    'e2e/walks',
    'demo/demo',
    'inverted/node',
    'http/redirected-commands',
    'lying/green',
  ],
  ...['forgery/typescript', 'forgery/vitest', 'forgery/forged-python', 'forgery/red-python', 'forgery/view-python'],
  ...['e2e/way-back', 'docs/tour', 'forgery/red-go', 'store/tamper', 'cli/state-directory', 'garbage/endpoints'],
  ...['garbage/endpoints-rest', 'real-agents/whole-others', 'torture/kill', 'real-agents/killed', 'spawn/lives'],
  ...['confinement/toolchains', 'mcp/inspector', 'cli/workflow', 'worktrees/worktrees', 'mcp/conformance'],
  ...['participants/command-others', 'confinement/resources', 'real-agents/budget', 'torture/power', 'cli/trust'],
  ...['tools/upstream/stdio', 'tools/files/search-tools', 'cli/coordinate', 'http/scratch', 'demo/faults'],
  ...['forgery/red-node', 'forgery/view-task', 'forgery/cargo', 'sdk/typescript', 'sdk/python', 'knowledge/words'],
  ...['runs/run-files', 'checks/reports/properties', 'contract/fuzz', 'inverter/inverter', 'core/rules/reference'],
]

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const placeOf = (file: TestSpecification): number => {
      const place = LONGEST.findIndex((name) => file.moduleId.endsWith(`/test/${name}.test.ts`))
      return (file.project.name === 'separate' ? 0 : 1000) + (place === -1 ? LONGEST.length : place)
    }
    return (await super.sort(files)).sort((a, b) => placeOf(a) - placeOf(b))
  }
}

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
