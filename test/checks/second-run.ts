import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { observe } from '../../src/checks/observed-runs/observe.js'
import { openSecondChannel, type SecondReport } from '../../src/checks/observed-runs/second-report.js'
import { addGuards, buildGuardedArgv, GUARDS_FOLDER } from '../../src/checks/observed-runs/test-guards.js'
import type { Confinement, ProviderName } from '../../src/confinement/confinement.js'
import { openConfinement } from '../../src/confinement/open-confinement.js'
import { type CommandRun, runCommand } from '../../src/confinement/run-command.js'
import type { ObservedCommand } from '../../src/core/contract/contract.js'
import type { ObservedRun } from '../../src/core/evidence/observed-run.js'

type Files = Readonly<Record<string, string>>

/** Runs commands as gates do, and says what their runners told beside the report. */
export interface Stand {
  /** Only the command and the socket, without the verdict. */
  hear(files: Files, line: string, packages?: string): Promise<{ told: readonly SecondReport[]; run: CommandRun }>
  observe(files: Files, command: Partial<ObservedCommand>, packages?: string): Promise<ObservedRun>
  close(): Promise<void>
}

export async function openStand(only: ProviderName | null = null): Promise<Stand> {
  const folder = mkdtempSync(join(tmpdir(), 'second-'))
  mkdirSync(join(folder, 'state'), { mode: 0o700 })
  const confinement = await openConfinement({ stateDir: join(folder, 'state'), only })
  if (only !== null && confinement.provider !== only) throw new Error(JSON.stringify(confinement.missing))
  const { signal } = new AbortController()
  const makeTree = (files: Files, packages?: string): string => {
    const tree = mkdtempSync(join(folder, 'tree-'))
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(dirname(join(tree, path)), { recursive: true })
      writeFileSync(join(tree, path), text)
    }
    if (packages !== undefined) symlinkSync(packages, join(tree, 'node_modules'))
    return tree
  }
  // A project whose packages lie elsewhere is shown them.
  const showing = (packages?: string): Pick<Confinement, 'start' | 'provider'> => ({
    provider: confinement.provider,
    start: (job) =>
      confinement.start({ ...job, shown: [...(job.shown ?? []), ...(packages === undefined ? [] : [packages])] }),
  })
  return {
    hear: async (files, line, packages) => {
      const channel = await openSecondChannel()
      const tree = makeTree(files, packages)
      try {
        const job = {
          tree,
          argv: buildGuardedArgv(line),
          cwd: '.',
          env: addGuards({ CI: '1' }),
          shown: [GUARDS_FOLDER],
        }
        const run = await runCommand(showing(packages), {
          ...job,
          ...{ network: false, writes: 'discard', git: 'read', isObserved: true, sockets: [channel.socket] },
          ...{ hidden: [], signal, timeoutMs: 60_000 },
        })
        return { run, told: await channel.told() }
      } finally {
        channel.close()
      }
    },
    observe: (files, command, packages) => {
      const place = {
        confinement: showing(packages),
        tree: makeTree(files, packages),
        hidden: [],
        signal,
        redact: String,
      }
      const whole = { run: '', format: 'auto', report: null, env: {}, timeoutSeconds: 60, ...command }
      return observe(place, 'tests', whole as ObservedCommand, { treeHash: '' })
    },
    close: async () => {
      await confinement.close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
