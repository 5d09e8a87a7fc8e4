import { spawn } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { packagePath } from '../../base/package-root.js'
import { sha256Hex } from '../../base/sha256.js'
import { EXIT, Stop } from '../exit.js'
import { tell } from '../terminal/terminal.js'
import { readProgramVersion } from '../version.js'
import { askEngine, type EngineName } from './engine.js'

const DOCKERFILE = 'deploy/container/Dockerfile'
const HASH_CHARS = 12

/** The image to run: the one that was named, pulled if it is missing; else the one of this version, built if needed. */
export async function findImage(engine: EngineName, named: string | undefined): Promise<string> {
  const image = named ?? nameOwnImage()
  if (askEngine(engine, ['image', 'inspect', image]).ok) return image
  if (named !== undefined) await runShown(engine, ['pull', named], `The image ${named} cannot be had`)
  else await buildImage(engine, image)
  return image
}

/** Its name changes with the program, so that a checkout that was built again does not run an old one. */
export function nameOwnImage(): string {
  const folder = packagePath('dist/program')
  const texts = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .toSorted()
    .filter((name) => name.endsWith('.js'))
    .map((name) => sha256Hex(readFileSync(join(folder, name), 'utf8')))
  const hash = sha256Hex([...texts, readFileSync(packagePath(DOCKERFILE), 'utf8')].join('\n')).slice(0, HASH_CHARS)
  return `phaselock:${readProgramVersion()}-${hash}`
}

async function buildImage(engine: EngineName, image: string): Promise<void> {
  const context = mkdtempSync(join(tmpdir(), 'phaselock-image-'))
  try {
    for (const path of listPackageFiles()) {
      mkdirSync(dirname(join(context, path)), { recursive: true })
      cpSync(packagePath(path), join(context, path), { recursive: true, dereference: false })
    }
    writeFileSync(join(context, 'package.json'), JSON.stringify(readRuntimeManifest()))
    tell(`Building the image ${image} once for this version; that takes a minute or two.`)
    const base = process.env.PHASELOCK_CONTAINER_BASE ?? ''
    const argument = base === '' ? [] : ['--build-arg', `BASE=${base}`]
    await runShown(
      engine,
      ['build', '-t', image, ...argument, '-f', join(context, DOCKERFILE), context],
      'The image cannot be built',
    )
  } finally {
    rmSync(context, { recursive: true, force: true })
  }
}

interface Manifest {
  readonly files: readonly string[]
}

function readManifest(): Manifest {
  return JSON.parse(readFileSync(packagePath('package.json'), 'utf8')) as Manifest
}

/** Without the packages that only a build needs: npm would look each of them up. */
function readRuntimeManifest(): Manifest {
  return { ...readManifest(), ...{ devDependencies: undefined, overrides: undefined } }
}

/** What the package has on npm. */
function listPackageFiles(): readonly string[] {
  return readManifest().files.filter((path) => !path.startsWith('!') && existsSync(packagePath(path)))
}

/** Runs the engine with its own progress on this terminal. */
async function runShown(engine: EngineName, args: readonly string[], trouble: string): Promise<void> {
  const child = spawn(engine, args, { stdio: ['ignore', process.stderr, process.stderr] })
  const code = await new Promise<number>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (status) => resolve(status ?? 1))
  })
  if (code === 0) return
  throw new Stop(
    EXIT.refused,
    `${trouble}: \`${engine} ${args[0]}\` ended with ${code}; its output is above.\nWithout a network, load an image and name it with --image; another base image is named with PHASELOCK_CONTAINER_BASE.`,
  )
}
