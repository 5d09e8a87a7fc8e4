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
const GIT = ['.gitattributes', 'src/.gitattributes', '.GitAttributes']
const PIPELINES = [
  '.github/workflows/ci.yml',
  '.GitHub/Workflows/ci.yml',
  '.gitlab-ci.yml',
  'jenkinsfile',
  '.circleci/config.yml',
]
const NEAR = [
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

describe('what acts on other machines or steers agents', () => {
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
