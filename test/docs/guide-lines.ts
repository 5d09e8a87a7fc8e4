import { type Block, blocksOf } from './blocks.js'

/** A line of a guide that another test runs, because it takes a terminal, a database, a container or a real agent CLI. */
interface Elsewhere {
  readonly line: RegExp
  /** Below `test/`, without `.test.ts`. */
  readonly test: string
  /** What that file has to hold for this to be true. */
  readonly word: string
}

export const ELSEWHERE: readonly Elsewhere[] = [
  { line: /^npm ci && npm run build$|^npm link$/, test: 'e2e/package', word: "'npm'" },
  { line: /^npm run demo$/, test: 'demo/demo', word: 'scripts/demo.mjs' },
  { line: /^phaselock demo$/, test: 'e2e/package', word: 'demo' },
  { line: /^npm start\b/, test: 'cli/serve', word: 'npm start' },
  { line: /^phaselock claude --native /, test: 'launch/native', word: '--native' },
  { line: /^phaselock claude "/, test: 'launch/claude', word: 'claude' },
  { line: /^phaselock codex --native /, test: 'launch/codex-native', word: '--native' },
  { line: /^phaselock codex /, test: 'launch/codex', word: 'codex' },
  { line: /^phaselock (gemini|opencode) /, test: 'launch/other-clis', word: 'gemini' },
  { line: /^phaselock run (claude-code|codex) /, test: 'real-agents/whole', word: 'phaselock run' },
  { line: /^claude plugin /, test: 'connect/plugin', word: 'marketplace' },
  { line: /^claude$/, test: 'connect/claude', word: 'claude' },
  { line: /^phaselock (connect|disconnect) /, test: 'connect/connect', word: 'disconnect' },
  { line: /^phaselock doctor --agents$/, test: 'connect/canary', word: 'doctor' },
  { line: /^phaselock up --container$/, test: 'container/real', word: 'container' },
  { line: /^phaselock coordinate token /, test: 'cli/coordinate-token', word: "'coordinate', 'token'" },
  { line: /^phaselock install /, test: 'e2e/install', word: "'install'" },
  { line: /^phaselock run coder /, test: 'spawn/worktree-cli', word: '--worktree' },
  { line: /^phaselock task merge /, test: 'spawn/worktree-cli', word: "'merge'" },
  { line: /^phaselock trust$/, test: 'cli/trust', word: 'on a terminal' },
  { line: /^phaselock backup |^phaselock restore /, test: 'cli/backup', word: "'restore'" },
  { line: /^export PHASELOCK_STORE=postgres:|^phaselock nodes prepare /, test: 'e2e/nodes', word: "'prepare'" },
  { line: /^phaselock serve --shared-trees |^phaselock nodes /, test: 'e2e/shared-trees', word: '--shared-trees' },
  { line: /^phaselock move /, test: 'store/move', word: 'postgres' },
  { line: /^phaselock serve .*--advertise /, test: 'e2e/nodes', word: '--advertise' },
  { line: /^OTEL_EXPORTER_OTLP_ENDPOINT=/, test: 'e2e/telemetry', word: 'OTEL_EXPORTER' },
  { line: /python3 examples\/integrations\//, test: 'real-agents/integrations', word: 'integrations' },
]

/** Lines that no test runs. */
export const BY_HAND: readonly { readonly line: RegExp; readonly reason: string }[] = [
  { line: /kernel\.apparmor_restrict|^sudo sysctl /, reason: 'it changes the kernel settings of the machine' },
  { line: /^npm run bench/, reason: 'benchmarks take minutes and pass no verdict' },
]

/** Guides whose blocks are marked, or run whole, have tests of their own. */
const RUN_WHOLE: ReadonlySet<string> = new Set(['docs/tour.md'])

/** Blocks that another test runs whole, because they need what only that test makes. */
export const BLOCKS_ELSEWHERE: readonly Elsewhere[] = [
  { line: /\$STASH|^STASH=/m, test: 'http/old-stashes', word: 'Work that 0.2.0 stashed' },
]

/** The blocks for a shell in a page that are not marked `run`, and that no other test runs whole. */
export function listUnmarked(file: string): readonly Block[] {
  if (RUN_WHOLE.has(file)) return []
  return blocksOf(file).filter(
    ({ language, marks, text }) =>
      (language === 'sh' || language === 'bash') &&
      !marks.includes('run') &&
      !BLOCKS_ELSEWHERE.some(({ line }) => line.test(text)),
  )
}

/** The commands of a block without comments, continued lines joined. */
export function listCommands({ text }: Block): readonly string[] {
  return text
    .replaceAll(/\\\n\s*/g, '')
    .split('\n')
    .map((line) => line.replace(/(^|\s{2,})#.*$/, '').trim())
    .filter((line) => line !== '')
}

export function isRunHere(command: string): boolean {
  return ![...ELSEWHERE, ...BY_HAND].some(({ line }) => line.test(command))
}
