import { accessSync, constants, existsSync, realpathSync, statSync } from 'node:fs'
import { homedir } from 'node:os'
import { delimiter, dirname, isAbsolute, join, relative, sep } from 'node:path'

export type Program =
  | {
      readonly ok: true
      readonly path: string /** Folders that must be visible for it to run. */
      readonly shown: readonly string[]
    }
  | { readonly ok: false; readonly detail: string }

/**
 * The path of a program, by its name on `path` or by its own path, and the folders needed to run it. None of it is in
 * `apart`: an agent that can write there would decide what the program does.
 */
export function findProgram(name: string, args: readonly string[], path: string, apart: string | null = null): Program {
  const isApart = (file: string): boolean => apart === null || !isInside(apart, file)
  const found = name.includes(sep)
    ? isAbsolute(name) && isProgram(name)
      ? name
      : undefined
    : path
        .split(delimiter)
        .filter((folder) => isAbsolute(folder) && isApart(folder))
        .map((folder) => join(folder, name))
        .find(isProgram)
  if (found === undefined) {
    const where = name.includes(sep) ? 'that the server may run' : 'on the PATH of the server'
    return { ok: false, detail: `'${name}' is not a program ${where}` }
  }
  const files = [found, ...args.filter((arg) => isAbsolute(arg) && existsSync(arg))]
  const shown = new Set<string>()
  for (const file of files.flatMap((one) => [one, realpathSync(one)])) {
    const folder = findPackageFolder(file)
    if (!isApart(file))
      return {
        ok: false,
        detail: `'${file}' is in the work tree that is voted on or reviewed; name a program outside it`,
      }
    if (isTooWide(folder)) return { ok: false, detail: `'${file}' is in ${folder}, which agents cannot see` }
    shown.add(folder)
  }
  return { ok: true, path: found, shown: [...shown].filter((folder) => !isSystem(folder)) }
}

/** A package needs its dependencies: show everything below the outermost `node_modules`. */
function findPackageFolder(file: string): string {
  const folder = statSync(file).isDirectory() ? file : dirname(file)
  const names = folder.split(sep)
  const at = names.indexOf('node_modules')
  return at === -1 ? folder : names.slice(0, at + 1).join(sep)
}

// Home directories and their parents contain credentials, and /tmp contains files of others.
function isTooWide(folder: string): boolean {
  return [homedir(), '/tmp', '/home', '/root', '/etc', '/var'].some((one) => isInside(folder, one))
}

function isSystem(folder: string): boolean {
  return ['/usr', '/bin', '/sbin', '/lib'].some((one) => isInside(one, folder))
}

function isInside(folder: string, path: string): boolean {
  const way = relative(folder, path)
  return way === '' || (!way.startsWith('..') && !isAbsolute(way))
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return statSync(path).isFile()
  } catch {
    return false
  }
}
