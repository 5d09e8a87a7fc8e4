import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Block, placeOf, ROOT } from './blocks.js'
import { jsonDifference, textDifference } from './expected.js'
import type { DocsServer } from './server.js'

export interface Ran {
  readonly block: Block
  readonly status: number
  readonly output: string
  readonly errors: string
}

/** Runs the blocks one after the other in one shell, so that variables and the current folder carry over. */
export async function runBlocks(blocks: readonly Block[], server: DocsServer): Promise<readonly Ran[]> {
  const dir = mkdtempSync(join(tmpdir(), 'phaselock-session-'))
  try {
    const parts = blocks.map(({ text }, index) => {
      const body = text.replaceAll('localhost:8000', `localhost:${server.port}`)
      return `{\n${body}\n} >'${dir}/${index}.out' 2>'${dir}/${index}.err'\necho $? >'${dir}/${index}.status'\n`
    })
    writeFileSync(join(dir, 'session.sh'), parts.join(''))
    await bash(join(dir, 'session.sh'), server)
    return blocks.map((block, index) => ({
      block,
      status: Number(readFileSync(join(dir, `${index}.status`), 'utf8')),
      output: readFileSync(join(dir, `${index}.out`), 'utf8'),
      errors: readFileSync(join(dir, `${index}.err`), 'utf8'),
    }))
  } finally {
    rmSync(dir, { recursive: true, force: true })
  }
}

function bash(script: string, server: DocsServer): Promise<void> {
  const env = {
    PATH: `${join(ROOT, 'bin')}:${process.env.PATH}`,
    HOME: server.stateHome,
    XDG_STATE_HOME: server.stateHome,
    TMPDIR: server.stateHome,
  }
  return new Promise((resolve, reject) => {
    const child = spawn('bash', [script], { cwd: ROOT, env, stdio: 'ignore' })
    child.on('error', reject)
    child.on('exit', () => resolve())
  })
}

/** What keeps the document from being true: a block that fails, or an answer that is not the one shown. */
export function differencesOf(blocks: readonly Block[], ran: readonly Ran[]): readonly string[] {
  const found: string[] = []
  for (const [index, block] of blocks.entries()) {
    const done = ran.find((one) => one.block === block)
    if (done !== undefined && (done.status !== 0 || done.errors !== ''))
      found.push(`${placeOf(block)}: the block ends with ${done.status} ${done.errors}`)
    const before = ran.find((one) => one.block === blocks[index - 1])
    if (!isAnswer(block) || before === undefined) continue
    const difference = answerDifference(block, before.output)
    if (difference !== null) found.push(`${placeOf(block)}: ${difference}`)
  }
  return found
}

export function isAnswer(block: Block): boolean {
  return block.language === 'json' || block.language === 'text'
}

function answerDifference(block: Block, output: string): string | null {
  if (block.language === 'text') return textDifference(block.text, output)
  try {
    return jsonDifference(JSON.parse(block.text), JSON.parse(output))
  } catch (error) {
    return `not JSON (${String(error)}): ${output}`
  }
}
