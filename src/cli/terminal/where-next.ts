import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { findLiveServerNote } from '../client/server-file.js'
import { ownContract, shortenPath } from '../contracts/choose-contract.js'
import { findGivenStateDir, getDefaultStateDir, listFoldersUpwards } from '../places.js'
import { findProgramAnywhere, findProgramName } from '../program-name.js'
import { formatStepLines, listAgentSteps, type Step } from './next-steps.js'

/** What `phaselock` alone prints: where you are, and what to do next. */
export function describeNext(cwd = process.cwd()): string {
  const program = findProgramName(cwd)
  const { place, steps } = findPlace(program, cwd)
  return [
    'Phaselock makes it impossible for coding agents to skip steps.',
    '',
    place,
    '',
    'Next:',
    ...formatStepLines(steps),
    '',
    `Commands: ${program} --help`,
  ].join('\n')
}

interface Place {
  readonly place: string
  readonly steps: readonly Step[]
}

function findPlace(program: string, cwd: string): Place {
  const at = { program, agents: new Map(), environment: process.env, where: '' }
  const folders = listFoldersUpwards(cwd)
  const given = findGivenStateDir(undefined)
  const stateDirs = given === null ? folders.map((folder) => getDefaultStateDir(folder)) : [given]
  const note = stateDirs.map(findLiveServerNote).find((found) => found !== null)
  if (note !== undefined)
    return {
      place: `A server runs for this folder: ${note.url}`,
      steps: [
        ...listAgentSteps(at),
        { label: 'Open the dashboard', command: `${program} login` },
        { label: 'Stop the server', command: `${program} down` },
      ],
    }
  const work = listAgentSteps({ ...at, isDown: true })
  const root = folders.findIndex((folder) => existsSync(join(folder, '.git')))
  const inside = root === -1 ? folders.slice(0, 1) : folders.slice(0, root + 1)
  const contract = inside.map((folder) => ownContract(folder)).find((path) => path !== null)
  if (contract !== undefined)
    return {
      place: `This repository has a contract, ${shortenPath(contract)}, and no server runs.`,
      steps: [...work, { label: 'Only start the server', command: `${program} up` }],
    }
  const demo = { label: 'Watch the demo', command: `${program} demo` }
  if (root === -1)
    return {
      place: 'This folder is not in a git repository.',
      steps: [demo, { label: 'Use your repository', command: `cd YOUR-REPOSITORY && ${findProgramAnywhere()} init` }],
    }
  return {
    place: 'This repository has no contract yet.',
    steps: [{ label: 'Write a contract', command: `${program} init` }, ...work.slice(0, 2), demo],
  }
}
