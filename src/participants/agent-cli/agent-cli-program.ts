import { accessSync, constants, existsSync, realpathSync, statSync } from 'node:fs'
import { homedir } from 'node:os'
import { delimiter, dirname, isAbsolute, join, relative, sep } from 'node:path'

export type Program =
  | {
      readonly ok: true
      readonly path: string /** Folders that must be seen for it to run. */
      readonly shown: readonly string[]
    }
  | { readonly ok: false; readonly detail: string }

/**
 * Where a program lies, by its name on `path` or by its own path, and what must be seen of the machine to run it. Nothing of
 * it lies in `apart`: whoever may write there would say what the program does.
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

/** A package needs what was installed beside it: then it is everything below the outermost `node_modules`. */
function findPackageFolder(file: string): string {
  const folder = statSync(file).isDirectory() ? file : dirname(file)
  const names = folder.split(sep)
  const at = names.indexOf('node_modules')
  return at === -1 ? folder : names.slice(0, at + 1).join(sep)
}

// Homes and what lies above them hold credentials, and /tmp holds what others left there.
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
