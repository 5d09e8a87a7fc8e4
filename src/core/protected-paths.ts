/** Why agents may not change a path. */
export type ProtectedFor = 'agents' | 'git' | 'machines' | 'pipelines'

/** A path that agents may not change unless a phase of the contract names it. */
export interface ProtectedPath {
  /** As people know it, such as `.vscode` or `AGENTS.md`. */
  readonly name: string
  readonly why: ProtectedFor
}

export const PROTECTED_WHY: Readonly<Record<ProtectedFor, string>> = {
  agents: 'steers agents',
  git: 'decides what git shows and runs',
  machines: 'runs commands on the machines of people who use the project',
  pipelines: 'decides what pipelines run',
}

/**
 * What protects this path, whatever its case; null: nothing. Of a glob: what it names. `.vscode/**` and `docs/AGENTS.md` name
 * something, `**` does not, and neither does a list of alternatives (`{AGENTS.md,a}`).
 */
export function protectedBy(path: string): ProtectedPath | null {
  const found = ENTRIES.find(({ matches }) => matches.test(path))
  return found === undefined ? null : { name: found.name, why: found.why }
}

interface Entry extends ProtectedPath {
  readonly matches: RegExp
}

// Tools look for these wherever somebody works, and on some machines without regard to case.
const ANYWHERE: Readonly<Record<'agents' | 'git' | 'machines', readonly string[]>> = {
  agents: [
    ...[
      'AGENTS.md',
      'AGENTS.override.md',
      'AGENT.md',
      'CLAUDE.md',
      'CLAUDE.local.md',
      'GEMINI.md',
      'QWEN.md',
      'WARP.md',
    ],
    ...['.claude', '.mcp.json', '.codex', '.gemini', '.qwen', '.opencode', 'opencode.json', 'opencode.jsonc', '.pi'],
    ...[
      '.cursor',
      '.cursorrules',
      '.windsurf',
      '.windsurfrules',
      '.clinerules',
      '.cline',
      '.roo',
      '.roorules',
      '.roomodes',
    ],
    ...['.aider.conf.yml', '.continue', '.continuerules', '.goosehints', '.junie', '.kiro', '.amazonq', '.augment'],
    ...[
      '.augment-guidelines',
      '.trae',
      '.agents',
      '.agent',
      '.factory',
      '.crush',
      'crush.json',
      '.crush.json',
      '.rules',
    ],
    ...[
      '.github/copilot-instructions.md',
      '.github/instructions',
      '.github/prompts',
      '.github/chatmodes',
      '.github/agents',
    ],
  ],
  git: ['.gitattributes'],
  machines: [
    ...['.husky', '.huskyrc', '.githooks', '.git-hooks', '.lefthook', '.lefthook-local'],
    ...[
      '.pre-commit-config.yaml',
      '.pre-commit-config.yml',
      '.pre-commit-hooks.yaml',
      '.overcommit.yml',
      'captainhook.json',
    ],
    ...[
      '.vscode',
      '.devcontainer',
      '.devcontainer.json',
      '.idea',
      '.run',
      '.fleet',
      '.zed',
      'tasks.vs.json',
      'launch.vs.json',
    ],
    ...[
      '.envrc',
      '.mise',
      '.mise.toml',
      'mise.toml',
      '.mise.local.toml',
      'mise.local.toml',
      '.config/mise',
      '.config/mise.toml',
    ],
    ...[
      '.exrc',
      '.nvim.lua',
      '.nvimrc',
      '.vimrc',
      '.lvimrc',
      '.dir-locals.el',
      '.dir-locals-2.el',
      '.gitpod.yml',
      '.replit',
    ],
  ],
}

// Names with an ending that varies.
const NAMED: readonly (readonly [name: string, why: ProtectedFor, file: string])[] = [
  ['.roorules', 'agents', String.raw`\.(roo|cline)rules-[^/]*`],
  ['.huskyrc', 'machines', String.raw`\.huskyrc\.[^/]*|husky\.config\.[^/]*`],
  ['lefthook.yml', 'machines', String.raw`\.?lefthook(-local)?\.(ya?ml|toml|jsonc?)`],
  ['.simple-git-hooks', 'machines', String.raw`\.?simple-git-hooks\.[^/]*`],
  ['.lintstagedrc', 'machines', String.raw`\.lintstagedrc(\.[^/]*)?|lint-staged\.config\.[^/]*`],
  ['.code-workspace', 'machines', String.raw`[^/]*\.code-workspace`],
  ['.run.xml', 'machines', String.raw`[^/]*\.run\.xml`],
]

const AT_ROOT: readonly string[] = [
  ...[
    '.github/workflows',
    '.github/actions',
    '.gitea/workflows',
    '.forgejo/workflows',
    '.gitlab-ci.yml',
    '.gitlab-ci.yaml',
  ],
  ...['.circleci', '.travis.yml', '.buildkite', '.drone.yml', '.woodpecker.yml', '.woodpecker', 'azure-pipelines.yml'],
  ...[
    'bitbucket-pipelines.yml',
    'Jenkinsfile',
    'appveyor.yml',
    '.appveyor.yml',
    '.cirrus.yml',
    '.semaphore',
    '.teamcity',
  ],
]

const ENTRIES: readonly Entry[] = [
  ...(['agents', 'git', 'machines'] as const).flatMap((why) =>
    ANYWHERE[why].map((name) => ({ name, why, matches: anywhere(escaped(name)) })),
  ),
  ...NAMED.map(([name, why, file]) => ({ name, why, matches: anywhere(file) })),
  ...AT_ROOT.map((name) => ({ name, why: 'pipelines', matches: new RegExp(`^${escaped(name)}(/|$)`, 'i') }) as const),
]

/** The names of everything that is protected, for the documentation. */
export const PROTECTED_NAMES: readonly string[] = ENTRIES.map(({ name }) => name)

function anywhere(source: string): RegExp {
  return new RegExp(`(^|/)(${source})(/|$)`, 'i')
}

function escaped(name: string): string {
  return name.replaceAll('.', '\\.')
}
