import { foldPath, makeFoldedNamePattern } from './fold-path.js'

/** Why agents may not change a path. */
type ProtectedFor = 'agents' | 'git' | 'machines' | 'pipelines'

/** A path that agents may not change unless a phase of the contract names it. */
interface ProtectedPath {
  /** The common name, such as `.vscode` or `AGENTS.md`. */
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
 * The protection of this path, in any spelling that a file system accepts for it; null: none. For a glob: of the path
 * it names. `.vscode/**` and `docs/AGENTS.md` name one; `**` and alternatives (`{AGENTS.md,a}`) do not.
 */
export function findProtection(path: string): ProtectedPath | null {
  const folded = foldPath(path)
  const found = ENTRIES.find(({ matches }) => matches.test(folded))
  return found === undefined ? null : { name: found.name, why: found.why }
}

interface Entry extends ProtectedPath {
  readonly matches: RegExp
}

// Tools look for these in every folder.
const AGENTS = splitWords(`
  AGENTS.md AGENTS.override.md AGENT.md CLAUDE.md CLAUDE.local.md GEMINI.md QWEN.md WARP.md .claude .mcp.json
  .codex .gemini .qwen .opencode opencode.json opencode.jsonc .pi .cursor .cursorrules .windsurf
  .windsurfrules .clinerules .cline .roo .roorules .roomodes .aider.conf.yml .continue .continuerules
  .goosehints .junie .kiro .amazonq .augment .augment-guidelines .trae .agents .agent .factory .crush
  crush.json .crush.json .rules .github/instructions .github/prompts .github/chatmodes .github/agents
  CRUSH.md IFLOW.md JULES.md GROK.md SKILL.md mcp.json .mcp .claude-plugin .cursor-plugin .codex-plugin
  .aider.conf.yaml .aider.model.settings.yml .amp .antigravity .codebuddy .copilot .devin .goose .grok .iflow
  .jules .kimi .openhands .openhands_instructions .qoder .qodo .ruler .rulesync .tabnine .vibe .zencoder
  firebender.json .github/skills .github/hooks .github/mcp.json
`)
const GIT = splitWords('.gitattributes .gitmodules .gitconfig .lfsconfig')
const MACHINES = splitWords(`
  .husky .huskyrc .githooks .git-hooks .lefthook .lefthook-local .pre-commit-config.yaml
  .pre-commit-config.yml .pre-commit-hooks.yaml .overcommit.yml captainhook.json .vscode .devcontainer
  .devcontainer.json .idea .run .fleet .zed tasks.vs.json launch.vs.json .envrc .mise .mise.toml mise.toml
  .mise.local.toml mise.local.toml .config/mise .config/mise.toml .exrc .nvim.lua .nvimrc .vimrc .lvimrc
  .dir-locals.el .dir-locals-2.el .gitpod.yml .replit .gdbinit .lldbinit .pdbrc .pdbrc.py .irbrc .pryrc
  .Rprofile .Renviron .mvn .cargo/config .cargo/config.toml .yarn/releases .yarn/plugins .bsp .vs .vim .nvim
  _vimrc _exrc .helix .lapce .theia .nova .idx .codesandbox .stackblitzrc devfile.yaml .devfile.yaml
  devbox.json .flox .rtx.toml .autoenv .autoenv.zsh .tmuxinator.yml .tmuxp.yaml .tmuxp.json
  .externalToolBuilders .gitpod.Dockerfile .hg .jj .sl .svn
`)
// Tools look for these only in the root.
const PIPELINES = splitWords(`
  .github/workflows .github/actions .gitea/workflows .forgejo/workflows .gitlab-ci.yml .gitlab-ci.yaml
  .circleci .travis.yml .buildkite .drone.yml .woodpecker.yml .woodpecker azure-pipelines.yml
  bitbucket-pipelines.yml Jenkinsfile appveyor.yml .appveyor.yml .cirrus.yml .semaphore .teamcity
  .woodpecker.yaml .drone.yaml azure-pipelines.yaml .azure-pipelines .tekton .harness .build.yml .builds
`)

// Names with a variable suffix.
const NAMED: readonly (readonly [name: string, why: ProtectedFor, file: string])[] = [
  ['.roorules', 'agents', String.raw`\.(roo|cline)rules-[^/]*`],
  ['.kilocode', 'agents', String.raw`\.kilocode[^/]*|kiloco~\d+`],
  ['.github/copilot', 'agents', String.raw`(\.github|github~\d+)/copilo(t[^/]*|~\d+(\.[^/]*)?)`],
  // What Windows may call a file when names like `gitatt~1` are taken.
  ['.gitattributes', 'git', String.raw`gi7d29~\d+`],
  ['.gitmodules', 'git', String.raw`gi7eba~\d+`],
  ['.huskyrc', 'machines', String.raw`\.huskyrc\.[^/]*|husky\.config\.[^/]*`],
  ['lefthook.yml', 'machines', String.raw`\.?lefthook(-local)?\.(ya?ml|toml|jsonc?)`],
  ['.simple-git-hooks', 'machines', String.raw`\.?simple-git-hooks\.[^/]*`],
  ['.lintstagedrc', 'machines', String.raw`\.lintstagedrc(\.[^/]*)?|lint-staged\.config\.[^/]*`],
  ['.code-workspace', 'machines', String.raw`[^/]*\.code-workspace`],
  ['.sublime-project', 'machines', String.raw`[^/]*\.sublime-(project|workspace|build|settings)`],
  ['.run.xml', 'machines', String.raw`[^/]*\.run\.xml`],
]

const ENTRIES: readonly Entry[] = [
  ...AGENTS.map((name) => ({ name, why: 'agents', matches: makeSegmentPattern(makeFoldedNamePattern(name)) }) as const),
  ...GIT.map((name) => ({ name, why: 'git', matches: makeSegmentPattern(makeFoldedNamePattern(name)) }) as const),
  ...MACHINES.map(
    (name) => ({ name, why: 'machines', matches: makeSegmentPattern(makeFoldedNamePattern(name)) }) as const,
  ),
  ...NAMED.map(([name, why, file]) => ({ name, why, matches: makeSegmentPattern(file) })),
  ...PIPELINES.map(
    (name) => ({ name, why: 'pipelines', matches: new RegExp(`^${makeFoldedNamePattern(name)}(/|$)`) }) as const,
  ),
]

/** The names of all protected paths, for the documentation. */
export const PROTECTED_NAMES: readonly string[] = ENTRIES.map(({ name }) => name)

// For folded paths, which have no capital letters.
function makeSegmentPattern(source: string): RegExp {
  return new RegExp(`(^|/)(${source})(/|$)`)
}

function splitWords(text: string): readonly string[] {
  return text.split(/\s+/).filter((word) => word !== '')
}
