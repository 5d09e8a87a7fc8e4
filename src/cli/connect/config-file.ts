import {
  accessSync,
  constants,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  rmdirSync,
  rmSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { writeFileAtomically } from '../../base/atomic-file.js'
import { isAtOrBelow } from '../../base/is-at-or-below.js'
import { type ConfigPlan, ConfigProblem } from './config-entry.js'
import { addJsonEntries, checkPlainJson, readJsonConfig, removeJsonEntries } from './edit-json.js'
import { addTomlEntries, readTomlConfig, removeTomlEntries } from './edit-toml.js'

const BYTES_MAX = 1024 * 1024
const FILE_MODE = 0o644

/** The content of a configuration file; null: there is none. Throws `ConfigProblem` for what must not be touched. */
export function readConfigFile(file: string, root: string): string | null {
  checkFolders(file, root)
  const stats = lstatSync(file, { throwIfNoEntry: false })
  if (stats === undefined) return null
  if (stats.isSymbolicLink()) throw new ConfigProblem('is a symbolic link; links are not followed')
  if (!stats.isFile()) throw new ConfigProblem('is not a file')
  if (stats.size > BYTES_MAX) throw new ConfigProblem(`is larger than ${BYTES_MAX} bytes`)
  const content = readFileSync(file)
  const text = content.toString('utf8')
  if (!Buffer.from(text, 'utf8').equals(content)) throw new ConfigProblem('is not UTF-8 text')
  return text
}

// A link on the way would lead the write to another place.
function checkFolders(file: string, root: string): void {
  const real = realpathSync(root)
  for (let folder = dirname(file); isAtOrBelow(root, folder) && folder !== root; folder = dirname(folder)) {
    const stats = lstatSync(folder, { throwIfNoEntry: false })
    if (stats === undefined) continue
    if (stats.isSymbolicLink()) {
      const place = isAtOrBelow(real, realpathSync(folder)) ? '' : ' out of the repository'
      throw new ConfigProblem(`is in a folder that is a symbolic link${place}`)
    }
    if (!stats.isDirectory()) throw new ConfigProblem('is below something that is not a folder')
  }
}

/** Throws `ConfigProblem` unless the file can be written or made. */
export function checkWritable(file: string): void {
  const isThere = existsSync(file)
  try {
    if (isThere) accessSync(file, constants.W_OK)
    // The file is replaced as a whole, so that its folder must be writable as well.
    let folder = dirname(file)
    while (!existsSync(folder) && folder !== dirname(folder)) folder = dirname(folder)
    accessSync(folder, constants.W_OK)
  } catch (error) {
    throw new ConfigProblem(`cannot be written (${(error as NodeJS.ErrnoException).code ?? 'fault'})`)
  }
  // Root may write what is marked read-only; a person who marked it did not mean that.
  if (isThere && (lstatSync(file).mode & 0o200) === 0) throw new ConfigProblem('is read-only')
}

/** Writes the file whole. Returns the folders that had to be made, outermost first. */
export function writeConfigFile(file: string, text: string): readonly string[] {
  const made: string[] = []
  for (let folder = dirname(file); !existsSync(folder); folder = dirname(folder)) made.unshift(folder)
  mkdirSync(dirname(file), { recursive: true })
  const mode = lstatSync(file, { throwIfNoEntry: false })?.mode
  writeFileAtomically(file, text, mode === undefined ? FILE_MODE : mode & 0o777)
  return made
}

/** Removes the file, and the folders that were made for it if nothing else is in them. */
export function removeConfigFile(file: string, made: readonly string[]): void {
  rmSync(file, { force: true })
  for (const folder of made.toReversed()) {
    try {
      rmdirSync(folder)
    } catch {
      // Something else is in it by now.
      return
    }
  }
}

export function addEntries({ format, entries }: ConfigPlan, text: string | null): string {
  if (format === 'json' && text !== null && text.trim() !== '') checkPlainJson(text)
  return format === 'toml' ? addTomlEntries(text, entries) : addJsonEntries(text, entries)
}

/** `before`: the text before our entries were added; undefined: unknown. Null: nothing is left. */
export function removeEntries(
  { format, entries }: Pick<ConfigPlan, 'format' | 'entries'>,
  text: string,
  before: string | null | undefined,
): string | null {
  return format === 'toml' ? removeTomlEntries(text) : removeJsonEntries(text, entries, before)
}

/** Throws `ConfigProblem` for a text that its CLI could not read either. */
export function checkConfig({ format }: Pick<ConfigPlan, 'format'>, text: string): void {
  if (format === 'toml') readTomlConfig(text)
  else readJsonConfig(text)
}

/** How a file is called in messages: relative to the repository. */
export function nameFile(file: string, root: string): string {
  return isAtOrBelow(root, file) ? file.slice(join(root, '/').length) : file
}
