import { spawn } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { AGENT_CLIS } from '../../src/core/contract/agent-programs.js'
import { findModelEndpoint } from '../../src/spawn/model-gateway.js'
import { built, Place, SCRIPT } from './program.js'

const RUN_MS_MAX = 300_000
const place = new Place()
beforeAll(built)

const SIMPLE = 'name: simple\nversion: "1"\nphases: [{id: A}, {id: B}]\nenforcement: {reconcile: off}\n'

/** An agent CLI as far as it matters here: it takes its task to the last phase. */
const AGENT = `#!${process.execPath}
const { PHASELOCK_URL: url, PHASELOCK_TOKEN: token, PHASELOCK_TASK_ID: task_id, PHASELOCK_AGENT_ID: agent_id } = process.env
const post = (path, body) => fetch(url + '/api/v1' + path, { method: 'POST', body: JSON.stringify(body),
  headers: { authorization: 'Bearer ' + token, 'content-type': 'application/json' } })
await post('/tasks/claim', { agent_id })
await post('/tasks/transition', { task_id, target_phase: 'B' })
`

/** A repository, and a PATH with Node and nothing else but what the system has and these programs. */
function scene(...programs: readonly string[]): { readonly cwd: string; readonly env: NodeJS.ProcessEnv } {
  const folder = mkdtempSync(join(place.home, 'next-'))
  const [cwd, bin] = [join(folder, 'repository'), join(folder, 'bin')]
  for (const path of [cwd, bin]) mkdirSync(path)
  symlinkSync(process.execPath, join(bin, 'node'))
  for (const name of programs) {
    writeFileSync(join(bin, name), AGENT)
    chmodSync(join(bin, name), 0o755)
  }
  return { cwd, env: { PATH: `${bin}:/usr/bin:/bin` } }
}

/** The commands of numbered steps, in their order. */
function commandsIn(text: string): readonly string[] {
  return [...text.matchAll(/^ {2}\d\. [^:]+: +(\S.*)$/gm)].map(([, command = '']) => command)
}

function shell(line: string, at: ReturnType<typeof scene>): Promise<{ code: number | null; output: string }> {
  const child = spawn('sh', ['-c', line], { cwd: at.cwd, env: { ...place.environment, ...at.env } })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk))
  return new Promise((resolve) => child.once('close', (code) => resolve({ code, output })))
}

async function works(line: string, at: ReturnType<typeof scene>): Promise<string> {
  const { code, output } = await shell(line, at)
  expect(code, `${line}\n${output}`).toBe(0)
  return output
}

describe('the next steps', () => {
  test(
    '[REQ-DEADEND-4] of init and up, with an agent CLI on the PATH, lead to an agent that has done its task',
    async () => {
      const at = scene('codex')
      const init = await works(`${SCRIPT} init --yes --no-trial`, at)
      const [explain = '', open = '', approve = '', status = ''] = commandsIn(init)
      const run = `${SCRIPT} run codex "Add a health endpoint"`
      expect([explain, open, approve, status]).toEqual([
        `${SCRIPT} explain`,
        `${SCRIPT} codex "Add a health endpoint"`,
        `${SCRIPT} approve`,
        `${SCRIPT} status`,
      ])
      expect(init).toContain(`Without a terminal:\n       ${SCRIPT} up && ${run}\n`)
      expect(init).toContain('The server must be started with OPENAI_API_KEY set')
      await works(explain, at)
      writeFileSync(join(at.cwd, 'agent_workflow.yaml'), SIMPLE)
      const started = await works(`${SCRIPT} up --port 0`, at)
      try {
        expect(commandsIn(started)).toEqual([open, approve, status])
        expect(await works(run, at)).toMatch(/now in B\n[\s\S]*: completed\./)
        expect(await works(approve, at)).toBe('Nothing waits for an approval.\n')
        expect(await works(status, at)).toContain('1 completed')
      } finally {
        await works(`${SCRIPT} down`, at)
      }
    },
    RUN_MS_MAX,
  )

  test(
    '[REQ-DEADEND-4] without an agent CLI say what to install, and how to begin without one',
    async () => {
      const at = scene()
      const init = await works(`${SCRIPT} init --yes --no-trial`, at)
      const [, start = ''] = commandsIn(init)
      expect(start).toBe(`${SCRIPT} up && ${SCRIPT} start --task "Add a health endpoint"`)
      expect(init).toMatch(/install claude, codex, gemini or\s+opencode[\s\S]*agents: \{coder: /)
      await works(`${SCRIPT} up --port 0`, at)
      try {
        expect(await works(start.replace(`${SCRIPT} up && `, ''), at)).toContain('Add a health endpoint')
      } finally {
        await works(`${SCRIPT} down`, at)
      }
    },
    RUN_MS_MAX,
  )

  test(
    '[REQ-DEADEND-4] of a server with its state elsewhere name its agents and lead to it from here',
    async () => {
      const at = scene('worker')
      const agents = `agents: {gone: {harness: command, command: not-installed}, coder: {harness: command, command: worker}}\n`
      writeFileSync(join(at.cwd, 'agent_workflow.yaml'), SIMPLE + agents)
      const stateDir = join(place.home, 'state of its own')
      const child = spawn(SCRIPT, ['serve', '--port', '0', '--state-dir', stateDir], {
        cwd: at.cwd,
        env: { ...place.environment, ...at.env },
      })
      const ended = new Promise((resolve) => child.once('close', resolve))
      try {
        const text = await new Promise<string>((resolve, reject) => {
          let output = ''
          for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk))
          child.stdout.on('data', () => output.includes('Ctrl-C stops.') && resolve(output))
          child.once('close', () => reject(new Error(output)))
        })
        const commands = commandsIn(text)
        expect(commands).toHaveLength(3)
        expect(commands[0]).toContain(` run --state-dir '${stateDir}' coder "Add a health endpoint"`)
        for (const command of commands) await works(command, at)
      } finally {
        child.kill('SIGTERM')
        await ended
      }
    },
    RUN_MS_MAX,
  )

  test('[REQ-DEADEND-4] of init for another folder begin with the way there', async () => {
    const at = scene()
    mkdirSync(join(at.cwd, 'a part'))
    const init = await works(`${SCRIPT} init --yes --no-trial 'a part'`, at)
    const way = /^ {2}(cd .*)$/m.exec(init)?.[1] ?? ''
    expect(await works(`${way} && ${commandsIn(init)[0]}`, at)).toContain('PLAN')
  })

  test('[REQ-DEADEND-4] the keys that are asked for are those that reach the model', () => {
    for (const [name, { keys }] of Object.entries(AGENT_CLIS))
      for (const key of keys)
        expect(findModelEndpoint(name, { [key]: 'x' }), key).toMatchObject({ stands: { [key]: expect.any(String) } })
  })

  test('[REQ-DEADEND-4] `run` with an agent that the contract does not name says what can be named', async () => {
    const at = scene()
    await works(`${SCRIPT} up --port 0`, at)
    try {
      const { code, output } = await shell(`${SCRIPT} run coder "Do it"`, at)
      expect(code).toBe(1)
      expect(output).toMatch(/no agent "coder"[\s\S]*claude-code, codex, gemini, opencode[\s\S]*agents: \{coder: /)
      expect(await works(`${SCRIPT} agents`, at)).toMatch(/run AGENT[\s\S]*agent add NAME/)
    } finally {
      await works(`${SCRIPT} down`, at)
    }
  })
})
