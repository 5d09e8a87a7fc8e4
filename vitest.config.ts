import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

// Files of these folders leave nothing behind in their process, and loading the program takes longer than most of them:
// they are run one after the other in the same processes. All others have a process each.
const SHARING = [
  ...[
    'attack',
    'checks',
    'cli',
    'contract',
    'coordination',
    'core',
    'docs',
    'doors',
    'hooks',
    'http',
    'knowledge',
    'mcp',
  ],
  ...['participants', 'store', 'tools', 'transcripts', 'tree'],
]
const SHARED = `test/{${SHARING.join(',')}}/**/*.test.ts`

// Whoever begins with these does not wait for one of them at the end.
const LONGEST = [
  ...[
    'garbage/endpoints',
    'garbage/endpoints-rest',
    'sdk/python',
    'confinement/wall',
    'sdk/typescript',
    'torture/kill',
  ],
  ...['confinement/resources', 'real-agents/whole-others', 'real-agents/killed', 'spawn/lives', 'mcp/inspector'],
  ...['cli/serve', 'docs/runnable', 'cli/workflow', 'mcp/conformance'],
]

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const placeOf = (file: TestSpecification): number => {
      const place = LONGEST.findIndex((name) => file.moduleId.endsWith(`/test/${name}.test.ts`))
      return (file.project.name === 'alone' ? 0 : 1000) + (place === -1 ? LONGEST.length : place)
    }
    return (await super.sort(files)).sort((a, b) => placeOf(a) - placeOf(b))
  }
}

export default defineConfig({
  test: {
    pool: 'forks',
    // Much of the time they wait for processes and clocks.
    maxWorkers: availableParallelism() + 1,
    sequence: { sequencer: LongestFirst },
    testTimeout: 60_000,
    hookTimeout: 60_000,
    projects: [
      { extends: true, test: { name: 'sharing', include: [SHARED], isolate: false } },
      { extends: true, test: { name: 'alone', include: ['test/**/*.test.ts'], exclude: [SHARED] } },
    ],
  },
})
