// What a call takes in Claude Code: with its own tools and nothing else, with hooks that allow everything at once, with its own
// tools under Phaselock's hooks, and with the tools of Phaselock.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { line, median, round } from './measure.mjs'
import { ROOT } from './servers.mjs'

const VERSION = '2.1.325'
const KEY = 'key-of-the-bench-model'
const FILES = 300
const RUN_MS = 120_000
const POLL_MS = 1000
const END_MS = 3000
const CONTRACT = `name: measured
version: "1"
phases:
  - {id: WORK, prompt: Work., allowed_tools: [read_files, write_files, bash]}
  - {id: DONE, prompt: Over., allowed_tools: []}
transitions: [{from: WORK, to: DONE}]
`

/** Each tool in the three ways; the paths of Phaselock's tools are relative to the work tree. */
const TOOLS = {
  read: {
    own: (tree) => ['Read', { file_path: join(tree, 'src/0.js') }],
    mcp: () => ['read_files', { path: 'src/0.js' }],
  },
  bash: { own: () => ['Bash', { command: 'true', description: 'nothing' }], mcp: () => ['bash', { command: 'true' }] },
  write: {
    own: (tree, i) => ['Write', { file_path: join(tree, `out/${i}.js`), content: `${i}\n` }],
    mcp: (_, i) => ['write_files', { path: `out/${i}.js`, content: `${i}\n` }],
  },
}
const OWN = 'claude --permission-mode manual --allowedTools Read,Write,Bash --setting-sources "" --strict-mcp-config'
const COMMANDS = {
  bare: `${OWN} "Go [[bench]]"`,
  answered: `${OWN} --settings "$BENCH_SETTINGS" "Go [[bench]]"`,
  hooks: 'phaselock claude --native "Go [[bench]]" -- --permission-mode manual',
  mcp: 'phaselock claude "Go [[bench]]" -- --permission-mode manual',
}
const UTF8 = { encoding: 'utf8' }

export async function benchAgentCli({ rounds, calls }) {
  const program = findClaude()
  if (program === null) return { skipped: `Claude Code ${VERSION} cannot be installed here` }
  if (spawnSync('tmux', ['-V']).status !== 0) return { skipped: 'tmux is not installed' }
  const at = makePlace(program)
  const model = await openModel()
  const times = Object.fromEntries(Object.keys(COMMANDS).map((way) => [way, {}]))
  try {
    for (let number = 0; number < rounds; number += 1)
      for (const way of Object.keys(COMMANDS))
        for (const [tool, values] of Object.entries(await measureWay(at, model, { way, calls, number })))
          times[way][tool] = [...(times[way][tool] ?? []), ...values]
  } finally {
    model.close()
    at.run(['down'])
    rmSync(at.dir, { recursive: true, force: true })
  }
  const found = Object.fromEntries(Object.entries(times).map(([way, byTool]) => [way, mapMedians(byTool)]))
  const lines = Object.keys(TOOLS).flatMap((tool) => [
    compare(`${tool}: Phaselock's hooks, over hooks that allow at once`, found.hooks[tool], found.answered[tool], 15),
    compare(`${tool}: hooks that allow at once, over no hooks`, found.answered[tool], found.bare[tool]),
    compare(`${tool}: Phaselock's hooks, over no hooks`, found.hooks[tool], found.bare[tool]),
    compare(`${tool}: over MCP, over Claude Code's own tools`, found.mcp[tool], found.bare[tool]),
  ])
  return { lines }
}

function mapMedians(byTool) {
  return Object.fromEntries(Object.entries(byTool).map(([tool, values]) => [tool, median(values)]))
}

/** What `took` is over `base`. Hooks that do nothing cost too: that part is Claude Code's own, and no goal counts it. */
function compare(name, took, base, goal) {
  const extra = took - base
  const ratio = { ratio: round(goal === undefined ? took / base : extra) }
  const value = { value: `${extra < 0 ? '' : '+'}${round(extra)} ms`, baseline: `${round(base)} ms` }
  return line(name, { ...value, ...ratio, ...(goal === undefined ? {} : { goal: `≤ ${goal} ms` }) })
}

function findClaude() {
  const dir = join(ROOT, 'node_modules/.cache/phaselock-bench-claude')
  const program = join(dir, 'node_modules/@anthropic-ai/claude-code-linux-x64/claude')
  if (existsSync(program)) return program
  mkdirSync(dir, { recursive: true })
  writeFileSync(join(dir, 'package.json'), '{"name": "installed-for-a-bench", "private": true}\n')
  const wanted = `@anthropic-ai/claude-code-linux-x64@${VERSION}`
  spawnSync('npm', ['install', '--ignore-scripts', '--no-audit', '--no-fund', wanted], { cwd: dir, stdio: 'ignore' })
  return existsSync(program) ? program : null
}

function makePlace(program) {
  const dir = mkdtempSync(join(tmpdir(), 'phaselock-bench-cli-'))
  const [tree, home] = [join(dir, 'tree'), join(dir, 'home')]
  for (const folder of [home, join(tree, 'src'), join(tree, 'out')]) mkdirSync(folder, { recursive: true })
  for (let i = 0; i < FILES; i += 1) writeFileSync(join(tree, `src/${i}.js`), `export const v${i} = ${i}\n`)
  writeFileSync(join(tree, 'agent_workflow.yaml'), CONTRACT)
  for (const words of [
    ['init', '-q'],
    ['add', '-A'],
    ['-c', 'user.name=b', '-c', 'user.email=b@b', 'commit', '-qm', 'x'],
  ])
    spawnSync('git', words, { cwd: tree })
  const known = {
    ...{ hasCompletedOnboarding: true, theme: 'dark' },
    customApiKeyResponses: { approved: [KEY.slice(-20)], rejected: [] },
    projects: { [tree]: { hasTrustDialogAccepted: true, hasCompletedProjectOnboarding: true } },
  }
  writeFileSync(join(home, '.claude.json'), JSON.stringify(known))
  writeFileSync(join(dir, 'passphrase'), 'a passphrase of the bench\n')
  const env = {
    ...{ HOME: home, TMPDIR: dir, TERM: 'xterm-256color', LANG: 'C.UTF-8', ANTHROPIC_API_KEY: KEY },
    PATH: [dirname(program), join(ROOT, 'bin'), process.env.PATH].join(':'),
    ...{ CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1', DISABLE_AUTOUPDATER: '1', DISABLE_TELEMETRY: '1' },
  }
  const run = (words) => spawnSync(join(ROOT, 'bin/phaselock'), words, { cwd: tree, env, encoding: 'utf8' })
  run(['up', '--port', '0'])
  run(['operator', 'passphrase', '--new-file', join(dir, 'passphrase')])
  return { dir, tree, env, run }
}

/** The times of each tool: from the answer of the model with the call to its next question. */
async function measureWay(at, model, { way, calls, number }) {
  const kind = way === 'mcp' ? 'mcp' : 'own'
  const names = Object.keys(TOOLS)
  const plan = Array.from({ length: calls * names.length }, (_, i) => {
    const tool = names[i % names.length]
    const [name, input] = TOOLS[tool][kind](at.tree, `${way}-${number}-${i}`)
    return { tool, name: kind === 'mcp' ? `mcp__phaselock__${name}` : name, input }
  })
  const times = model.begin(plan)
  const settings = join(at.dir, 'settings.json')
  writeFileSync(settings, JSON.stringify({ hooks: buildHooksThatAllow(model.url) }))
  const env = { ...at.env, ANTHROPIC_BASE_URL: model.url, BENCH_SETTINGS: settings }
  const window = openWindow(at, env, COMMANDS[way])
  try {
    await waitUntilOver(times.over, window)
  } finally {
    window.close()
    // The command gives its task back.
    await new Promise((resolve) => setTimeout(resolve, END_MS))
  }
  const found = names.map((tool) => [tool, times.byTool.get(tool) ?? []])
  const empty = found.filter(([, values]) => values.length < calls / 2).map(([tool]) => tool)
  if (empty.length > 0) throw new Error(`${way}: too few calls of ${empty.join(', ')} were made`)
  return Object.fromEntries(found)
}

/** What hooks take that nobody thinks about: the part of Claude Code itself. */
function buildHooksThatAllow(url) {
  const hooks = [{ type: 'http', url: `${url}/allow`, timeout: 90, onFailure: 'block' }]
  return { PreToolUse: [{ matcher: '*', hooks }], PostToolUse: [{ matcher: '*', hooks }] }
}

/** The model asks for nothing more, or the time is over: then what the screen shows says why. */
async function waitUntilOver(over, window) {
  let isOver = false
  void over.then(() => {
    isOver = true
  })
  const deadline = Date.now() + RUN_MS
  while (!isOver) {
    await new Promise((resolve) => setTimeout(resolve, POLL_MS))
    if (Date.now() < deadline && window.isOpen()) continue
    if (!isOver) throw new Error(`Claude Code made not all calls. Its screen:\n${window.screen()}`)
  }
}

/** A window of tmux: Claude Code asks its terminal what it can do, and waits for the answers. */
function openWindow({ dir, tree }, env, command) {
  const socket = join(dir, `tmux-${Date.now()}`)
  const tmux = (...words) => spawnSync('tmux', ['-S', socket, '-f', '/dev/null', ...words], UTF8)
  const variables = Object.entries(env).map(([name, value]) => `${name}=${value}`)
  const size = ['-x', '120', '-y', '40']
  const words = ['env', '-i', ...variables, 'sh', '-c', command]
  const opened = tmux(
    'new-session',
    '-d',
    '-s',
    'bench',
    ...size,
    '-c',
    tree,
    ...words,
    ';',
    'set',
    'remain-on-exit',
    'on',
  )
  if (opened.status !== 0) throw new Error(`tmux: ${opened.stderr}`)
  return {
    isOpen: () => tmux('list-panes', '-t', 'bench', '-F', '#{pane_dead}').stdout.trim() === '0',
    screen: () => tmux('capture-pane', '-p', '-t', 'bench').stdout.replaceAll(/\n\s*\n/g, '\n'),
    close: () => tmux('kill-server'),
  }
}

/** A model that asks for one call after another, and takes the time until it is asked again. */
async function openModel() {
  let plan = []
  let times = null
  const server = createServer((request, response) => {
    let text = ''
    request.on('data', (chunk) => {
      text += chunk
    })
    request.on('end', () => {
      const body = text === '' ? {} : JSON.parse(text)
      if (request.url === '/allow') return allow(response, body.hook_event_name)
      const isAsked = request.url.includes('/v1/messages') && !request.url.includes('count_tokens')
      if (!isAsked || !text.includes('[[bench]]') || !(body.tools?.length > 0)) return send(response, body, null)
      const step = body.messages.filter(({ role }) => role === 'assistant').length
      times.note(step)
      send(response, body, plan[step] ?? null, step)
      times.answered(step)
    })
  })
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    begin: (calls) => {
      plan = calls
      times = makeTimes(calls)
      return times
    },
    close: () => {
      server.closeAllConnections()
      server.close()
    },
  }
}

function allow(response, event) {
  const decision = { hookEventName: event, permissionDecision: 'allow', permissionDecisionReason: 'at once' }
  response.writeHead(200, { 'content-type': 'application/json' })
  response.end(JSON.stringify(event === 'PreToolUse' ? { hookSpecificOutput: decision } : {}))
}

function makeTimes(plan) {
  const byTool = new Map()
  let last = null
  let end
  const over = new Promise((resolve) => {
    end = resolve
  })
  return {
    ...{ byTool, over },
    note: (step) => {
      // The first calls load what later ones use.
      if (last?.step === step - 1 && step > 6)
        byTool.set(plan[last.step].tool, [...(byTool.get(plan[last.step].tool) ?? []), performance.now() - last.at])
      if (step >= plan.length) end()
    },
    answered: (step) => {
      last = step < plan.length ? { step, at: performance.now() } : null
    },
  }
}

function send(response, asked, call, step = 0) {
  const block =
    call === null ? { type: 'text', text: 'Done.' } : { type: 'tool_use', id: `toolu_${step}_${Date.now()}` }
  const usage = { input_tokens: 1, output_tokens: 1 }
  const message = { id: `msg_${Date.now()}_${step}`, type: 'message', role: 'assistant', model: asked.model ?? 'm' }
  const stop = { stop_reason: call === null ? 'end_turn' : 'tool_use', stop_sequence: null }
  const whole = call === null ? block : { ...block, name: call.name, input: call.input }
  if (asked.stream !== true) {
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ ...message, content: [whole], ...stop, usage, input_tokens: 1 }))
    return
  }
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  const put = (type, data) => response.write(`event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`)
  put('message_start', { message: { ...message, content: [], stop_reason: null, stop_sequence: null, usage } })
  put('content_block_start', {
    index: 0,
    content_block: call === null ? { ...block, text: '' } : { ...whole, input: {} },
  })
  const delta =
    call === null
      ? { type: 'text_delta', text: 'Done.' }
      : { type: 'input_json_delta', partial_json: JSON.stringify(call.input) }
  put('content_block_delta', { index: 0, delta })
  put('content_block_stop', { index: 0 })
  put('message_delta', { delta: stop, usage: { output_tokens: 1 } })
  put('message_stop', {})
  response.end()
}
