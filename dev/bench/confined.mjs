// A confined command against the same command started plainly, and the wall's share of a command that does something.
import { spawn } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { alternate, line, median, medians, round } from './measure.mjs'
import { place } from './servers.mjs'

const COMMANDS_A_ROUND = 15
const NOTHING = 'true'
const SOMETHING = 'node -e 0'
const PROVIDERS = ['overlay+bubblewrap', 'bubblewrap', 'unshare']

export async function benchConfined({ rounds }) {
  const { openConfinement } = await import('../../dist/confinement/open-confinement.js')
  const at = place()
  const tree = join(at.dir, 'tree')
  mkdirSync(join(tree, 'src'), { recursive: true })
  for (let i = 0; i < 50; i += 1) writeFileSync(join(tree, 'src', `${i}.ts`), 'x'.repeat(2000))
  const walls = []
  for (const only of PROVIDERS) {
    const stateDir = join(at.dir, only)
    mkdirSync(stateDir)
    const wall = await openConfinement({ stateDir, only })
    if (wall.provider === only) walls.push(wall)
    else console.error(`${only} is left out: ${wall.missing[0]?.found}`)
  }
  const candidates = {
    plain: () => several(() => plain(tree, NOTHING)),
    plainNode: () => several(() => plain(tree, SOMETHING)),
  }
  for (const wall of walls) {
    candidates[wall.provider] = () => several(() => confined(wall, tree, NOTHING))
    candidates[`${wall.provider} node`] = () => several(() => confined(wall, tree, SOMETHING))
  }
  try {
    const ms = medians(await alternate(rounds, candidates))
    const against = (name, value, baseline, goal) =>
      line(name, {
        value: `${round(ms[value])} ms`,
        baseline: `${round(ms[baseline])} ms`,
        ratio: round(ms[value] / ms[baseline]),
        ...(goal === undefined ? {} : { goal: `≤ ${goal}` }),
      })
    const [best] = walls
    return {
      lines: walls.flatMap((wall) => [
        against(
          `${wall.provider}: bash -c true, against a plain spawn`,
          wall.provider,
          'plain',
          wall === best ? 5 : undefined,
        ),
        against(`${wall.provider}: ${SOMETHING}, against a plain spawn`, `${wall.provider} node`, 'plainNode'),
      ]),
    }
  } finally {
    for (const wall of walls) await wall.close()
    at.remove()
  }
}

async function several(run) {
  const times = []
  for (let i = 0; i < COMMANDS_A_ROUND; i += 1) {
    const start = performance.now()
    await run()
    times.push(performance.now() - start)
  }
  return median(times)
}

function plain(tree, command) {
  return new Promise((resolve, reject) => {
    const child = spawn('/bin/bash', ['-c', command], {
      cwd: tree,
      stdio: ['pipe', 'pipe', 'pipe'],
      env: { PATH: process.env.PATH ?? '', HOME: '/tmp', LANG: 'C.UTF-8' },
    })
    child.stdout.resume()
    child.stderr.resume()
    child.on('close', (code) => (code === 0 ? resolve() : reject(new Error(`exit ${code}`))))
  })
}

export async function confined(wall, tree, command) {
  const started = await wall.start({
    tree,
    argv: ['bash', '-c', command],
    cwd: '.',
    env: {},
    network: false,
    writes: 'keep',
    git: 'read',
    hidden: [],
    signal: new AbortController().signal,
    timeoutMs: 20_000,
  })
  started.stdout.resume()
  started.stderr.resume()
  const ended = await started.done
  if (ended.exitCode !== 0) throw new Error(`exit ${ended.exitCode}`)
  const { openTreeWriter } = await import('../../dist/tree/write/tree-writer.js')
  await ended.changes.commit(ended.changes.list, (steps) => openTreeWriter(tree).commit(steps))
}
