import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { depth } from '../depth.js'
import { type Answer, type Running, start } from './harness.js'

const CONTRACT = `
name: protected
version: "1"
phases:
  - {id: OPEN, allowed_tools: [write_files, bash]}
  - id: NAMED
    allowed_tools: [write_files, bash]
    writable: ["**", "CLAUDE.md", ".vscode/**", "**/AGENTS.md", ".gitattributes", "{.husky,x}/**"]
  - {id: DONE, allowed_tools: []}
enforcement: {denial_budget: 1000}
`
const AGENTS = [
  ...['.codex/config.toml', '.gemini/settings.json', 'opencode.json', 'opencode.jsonc', '.opencode/plugin/a.js'],
  ...['AGENTS.md', 'agents.md', 'docs/Agents.MD', 'CLAUDE.md', 'packages/a/claude.md', 'CLAUDE.local.md', 'GEMINI.md'],
  ...['.cursorrules', '.CursorRules', '.cursor/rules/a.mdc', 'pkg/.cursor/mcp.json', '.windsurfrules', '.clinerules'],
  ...[
    '.clinerules/a.md',
    '.github/copilot-instructions.md',
    '.github/instructions/a.instructions.md',
    '.roorules-code',
  ],
  ...[
    'pkg/.claude/settings.json',
    '.Claude/settings.json',
    '.mcp.json',
    'pkg/.mcp.json',
    '.goosehints',
    '.junie/guide.md',
  ],
]
const MORE_AGENTS = [
  ...['.github/skills/a/SKILL.md', '.github/hooks/a.json', '.github/copilot/settings.json', '.copilot/config.json'],
  ...[
    '.openhands/setup.sh',
    '.kilocode/rules/a.md',
    '.kilocodemodes',
    '.claude-plugin/plugin.json',
    '.aider.conf.yaml',
  ],
  ...['.amp/settings.json', 'mcp.json', 'tools/mcp.json', 'skills/a/SKILL.md', '.goose/config.yaml'],
]
const MORE_MACHINES = [
  ...['.gdbinit', 'src/.pdbrc', '.Rprofile', '.mvn/jvm.config', '.cargo/config', '.cargo/config.toml', '.irbrc'],
  ...['.hg/hgrc', 'sub/.jj/repo/config.toml'],
  ...['x.sublime-project', '.theia/tasks.json', '.nova/Tasks/a.json', '.yarn/releases/yarn.cjs', '.bsp/a.json'],
]
// Names that only some file systems take for a protected one.
const SPELLINGS = [
  ...[
    '.vſcode/tasks.json',
    'AGENTS.md.',
    'AGENTS.md ',
    'pkg/AGENTS.md. .',
    'AGENTS.md::$DATA',
    '.claude:x/settings.json',
  ],
  ...['.cla\u200dude/settings.json', '\ufeffCLAUDE.md', 'ＡＧＥＮＴＳ.md', 'CLAUDE~1/settings.json', 'cursor~2'],
  ...[
    'gitmod~1',
    'GI7EBA~1',
    'gitatt~1',
    'gi7d29~4',
    'MCP~1.JSO',
    '.GITHUB./workflows/ci.yml',
    'GITHUB~1/WORKFL~1/ci.yml',
  ],
]
const GIT_SPELLINGS = [
  ...[
    '.GIT/hooks/pre-commit',
    'sub/.Git/config',
    '.git./hooks/pre-commit',
    '.git /config',
    '.git::$INDEX_ALLOCATION/config',
  ],
  ...['git~1/hooks/pre-commit', 'GIT~1/config', '.g\u200cit/config', 'sub/.ｇit/config'],
]
const CONTRACT_SPELLINGS = [
  'agent_workflow.yaml.',
  'Agent_Workflow.yaml::$DATA',
  'AGENT_~1.YAM',
  'agent_workflow /a.md',
]
const MACHINES = [
  ...['.husky/pre-commit', 'web/.husky/pre-push', '.huskyrc.json'],
  ...['.githooks/pre-commit', 'lefthook.yml', '.lefthook.yaml', 'lefthook-local.toml', '.pre-commit-config.yaml'],
  ...[
    '.vscode/tasks.json',
    '.vscode/settings.json',
    'web/.vscode/launch.json',
    '.VSCODE/tasks.json',
    'x.code-workspace',
  ],
  ...[
    '.devcontainer/devcontainer.json',
    '.devcontainer.json',
    '.devcontainer/a/devcontainer.json',
    '.idea/workspace.xml',
  ],
  ...['.idea/runConfigurations/a.xml', '.run/a.run.xml', '.envrc', 'sub/.envrc', '.mise.toml', 'mise.toml'],
  ...['.lintstagedrc.json', 'lint-staged.config.mjs', '.simple-git-hooks.json', '.exrc', '.dir-locals.el'],
]
const GIT = ['.gitattributes', 'src/.gitattributes', '.GitAttributes', '.gitmodules']
const PIPELINES = [
  '.github/workflows/ci.yml',
  '.GitHub/Workflows/ci.yml',
  '.gitlab-ci.yml',
  'jenkinsfile',
  '.circleci/config.yml',
]
const NEAR = [
  ...[
    'docs/skills.md',
    'src/mcp.json.ts',
    '.github/ISSUE_TEMPLATE/a.md',
    'copilot.md',
    '.yarn/cache.txt',
    '.cargo/a.md',
  ],
  ...[
    'src/report~1.txt',
    'src/git~',
    'notes: agents.md',
    'src/...',
    'agent_workflows.yaml',
    'src/.gitkeep',
    'digit~1x',
  ],
  ...['.gitignore', '.editorconfig', 'docs/agents-guide.md', 'src/agents.mdx', 'vscode/settings.json', 'src/husky.js'],
  ...[
    'templates/.github/workflows/ci.yml',
    '.github/CODEOWNERS',
    'src/envrc.js',
    '.nvmrc',
    '.npmrc',
    'scripts/check.sh',
  ],
]

describe('files that act on other machines or control agents', () => {
  let run: Running
  let token = ''
  const tool = (tool_name: string, args: object): Promise<Answer> =>
    run.call('POST', '/tools/execute', token, { task_id: 't', tool_name, args })
  const write = (path: string) => tool('write_files', { path, content: 'x\n' })
  const isThere = (path: string) => existsSync(join(run.workspace, path))

  beforeAll(async () => {
    run = await start({ contract: CONTRACT })
    await run.addTask({ id: 't' })
    token = await run.claim('a', await run.addAgent('a'), 't')
  })
  afterAll(() => run.stop())

  it.each([
    ['steers agents', AGENTS],
    ['decides what git shows and runs', GIT],
    ['runs commands on the machines of people who use the project', MACHINES],
    ['decides what pipelines run', PIPELINES],
    ['steers agents', MORE_AGENTS],
    ['runs commands on the machines of people who use the project', MORE_MACHINES],
  ])('[REQ-PROTECT-1] no write tool changes what %s, and the refusal says what helps', async (why, paths) => {
    for (const path of paths) {
      const { status, body } = await write(path)
      expect(status, path).toBe(403)
      expect(body, path).toMatchObject({ code: 'constraint_violation' })
      expect(body.detail, path).toContain(`${JSON.stringify(path)} in OPEN: it is protected (`)
      expect(body.detail, path).toContain(
        `${why}); ask an operator to change it, or to name it in \`writable\` of OPEN`,
      )
      expect(isThere(path), path).toBe(false)
    }
  })

  it('[REQ-PROTECT-4] no spelling that some file system takes for such a name is written', async () => {
    for (const [paths, why] of [
      [SPELLINGS, 'it is protected ('],
      [GIT_SPELLINGS, 'it is in the git directory'],
      [CONTRACT_SPELLINGS, 'it is part of the contract'],
    ] as const)
      for (const path of paths) {
        const { status, body } = await write(path)
        expect([path, status, isThere(path)]).toEqual([path, 403, false])
        expect(body.detail, path).toContain(why)
      }
    const { body } = await tool('bash', {
      command: 'mkdir -p .GIT/hooks && echo x > .GIT/hooks/a; echo x > AGENTS.md.',
    })
    expect(JSON.stringify(body)).toContain('is protected (')
    expect([isThere('.GIT/hooks/a'), isThere('AGENTS.md.')]).toEqual([false, false])
  })

  it('[REQ-PROTECT-1] no command changes them either', async () => {
    const paths = depth(
      ['.gitattributes', 'pkg/claude.md', '.vscode/tasks.json'],
      [...AGENTS, ...GIT, ...MACHINES, ...PIPELINES],
    )
    for (const path of paths) {
      const { body } = await tool('bash', {
        command: `mkdir -p "$(dirname ${path})" && echo x > ${path} && echo x > src.js`,
      })
      expect(JSON.stringify(body), path).toContain('is protected (')
      expect([isThere(path), isThere('src.js')], path).toEqual([false, false])
    }
  })

  it('[REQ-PROTECT-2] files with names like theirs can be written', async () => {
    for (const path of NEAR) expect((await write(path)).status, path).toBe(200)
  })

  it('[REQ-PROTECT-2] a phase opens what it names, exactly there and in that case', async () => {
    const moved = await run.call('POST', '/tasks/transition', token, { task_id: 't', target_phase: 'NAMED' })
    token = String(moved.body.phase_token)
    const refused = ['claude.md', 'pkg/CLAUDE.md', 'pkg/.vscode/tasks.json', 'docs/agents.md', 'src/.gitattributes']
    for (const path of [...refused, '.husky/pre-commit', '.envrc'])
      expect((await write(path)).body.detail, path).toContain('is protected (')
    for (const path of ['CLAUDE.md', '.vscode/tasks.json', 'AGENTS.md', 'pkg/AGENTS.md', '.gitattributes'])
      expect((await write(path)).status, path).toBe(200)
  })
})
