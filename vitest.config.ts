import { defineConfig } from 'vitest/config'

// Files of these folders leave nothing behind in their process, and loading the program takes longer than most of them:
// they are run one after the other in the same processes. All others have a process each.
const SHARING = ['attack', 'checks', 'cli', 'contract', 'core', 'docs', 'hooks', 'http', 'mcp', 'store']
const SHARED = `test/{${SHARING.join(',')}}/**/*.test.ts`

export default defineConfig({
  test: {
    pool: 'forks',
    maxWorkers: 2,
    testTimeout: 60_000,
    hookTimeout: 60_000,
    projects: [
      { extends: true, test: { name: 'sharing', include: [SHARED], isolate: false } },
      { extends: true, test: { name: 'alone', include: ['test/**/*.test.ts'], exclude: [SHARED] } },
    ],
  },
})
