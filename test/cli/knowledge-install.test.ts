import { chmodSync, cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { type Answer, built, Place, ROOT } from './program.js'

const place = new Place()
const copy = join(place.home, 'phaselock')
const script = join(copy, 'bin', 'phaselock')
const CONTRACT =
  'name: reading\nversion: "1"\nknowledge: {sources: ["docs/*.md"]}\nphases:\n  - id: PLAN\n    allowed_tools: [read_files]\n'

// The package as it is installed, without the packages of the model.
beforeAll(async () => {
  await built()
  mkdirSync(join(copy, 'runtime/embedding'), { recursive: true })
  for (const part of ['bin', 'contracts', 'dist', 'schemas', 'package.json', 'runtime/embedding/package.json'])
    cpSync(join(ROOT, part), join(copy, part), { recursive: true })
  cpSync(join(ROOT, 'runtime/embedding/related-words.txt'), join(copy, 'runtime/embedding/related-words.txt'))
  symlinkSync(join(ROOT, 'node_modules'), join(copy, 'node_modules'))
  mkdirSync(join(place.work, 'docs'))
  writeFileSync(join(place.work, 'docs', 'a.md'), '# Style\n\nNames are nouns.\n')
  writeFileSync(join(place.work, 'agent_workflow.yaml'), CONTRACT)
})

function npmThat(does: string): NodeJS.ProcessEnv {
  const bin = join(place.home, 'bin')
  mkdirSync(bin, { recursive: true })
  writeFileSync(join(bin, 'npm'), `#!/bin/sh\n${does}\n`)
  chmodSync(join(bin, 'npm'), 0o755)
  return { PATH: `${bin}:${process.env.PATH ?? ''}` }
}

async function findingOf(env: NodeJS.ProcessEnv, args: readonly string[] = []): Promise<Answer | undefined> {
  const ended = await place.node([script, 'doctor', '--port', '0', '--json', ...args], { env })
  const { findings } = JSON.parse(ended.stdout) as { readonly findings: readonly Answer[] }
  return findings.find(({ name }) => name === 'knowledge')
}

test('[REQ-KNOW-24] an install that cannot reach the packages exits 1 and says what to do', async () => {
  const env = npmThat('echo "npm error code ENOTFOUND" >&2; exit 1')
  const text = await place.node([script, 'knowledge', 'install'], { env })
  expect(text).toMatchObject({ code: 1, stdout: '' })
  expect(text.stderr).toContain('npm error code ENOTFOUND')
  expect(text.stderr).toContain('npm config get registry')
  const json = await place.node([script, 'knowledge', 'install', '--json'], { env })
  expect(json.code).toBe(1)
  expect(`${json.stdout}${json.stderr}`).toMatch(/"installed": ?false/)
  expect((await place.node([script, 'knowledge', 'install', '--help'])).stdout).toContain('embedding model')
})

test('[REQ-KNOW-25] doctor names the command where documents are searched and the model is missing', async () => {
  expect(await findingOf({})).toMatchObject({ status: 'warning', remedy: 'Run: phaselock knowledge install' })
  expect(await findingOf({ PHASELOCK_EMBEDDINGS: 'none' })).toMatchObject({ status: 'ok', remedy: '' })
  expect(await findingOf({ PHASELOCK_EMBEDDINGS_URL: 'http://127.0.0.1:9/v1' })).toMatchObject({ status: 'ok' })
  expect(await findingOf({}, ['--contract', 'tdd'])).toBeUndefined()
})

test('[REQ-KNOW-25] the first search of a run names the command in its answer, and the log has it once', async () => {
  const server = await place.serve([], [script, 'serve'])
  const token = readFileSync(join(server.stateDir, 'operator.token'), 'utf8').trim()
  const search = async (): Promise<Answer> => {
    const answer = await fetch(`${server.url}/api/v1/knowledge/search`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: '{"query": "names"}',
    })
    return (await answer.json()) as Answer
  }
  expect(await search()).toMatchObject({ degraded: true, hint: expect.stringContaining('phaselock knowledge install') })
  const second = await search()
  expect(second).toMatchObject({ degraded: true, retrieval_method: 'lexical' })
  expect(second).not.toHaveProperty('hint')
  expect(server.output().split('phaselock knowledge install').length - 1).toBe(1)
})
