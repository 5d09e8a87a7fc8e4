import { existsSync, readdirSync } from 'node:fs'
import { delimiter, join, posix } from 'node:path'
import type { WorkTree } from '../../tree/work-tree.js'
import { readText } from '../test-files/test-files.js'

const TESTS_READ_MAX = 5000
const NAMES_MAX = 20_000

/** Where Python looks for the modules of a project. */
const PYTHON_ROOTS = ['', 'src/', 'lib/', 'python/'] as const

interface AddedFiles {
  readonly tree: Pick<WorkTree, 'read'>
  readonly root: string
  /** Paths that did not exist when work began. */
  readonly added: readonly string[]
  readonly tests: readonly string[]
  /** Folders of programs; Python's modules are next to them. */
  readonly path: string
  /** Folders, besides `node_modules`, where JavaScript modules are found by their bare names. */
  readonly folders?: readonly string[]
  /** Whether a path with this prefix existed when work began. */
  isOld?(beginning: string): boolean
  /** Whether this file existed when work began. */
  wasThere?(path: string): boolean
}

/** Added files that would be loaded instead of an outside module that tests import. */
export async function findStandIns(one: AddedFiles): Promise<readonly string[]> {
  const modules = findPythonStandIns(one)
  const packages = one.added.filter((path) => posix.basename(path) === 'package.json')
  const searched = findSearchedModules(one)
  if (modules.size === 0 && packages.length === 0 && searched.length === 0) return []
  const imported = await collectImported(one)
  const found = [...modules].filter(([name]) => imported.python.has(name)).flatMap(([, paths]) => paths)
  for (const path of packages)
    if (imported.javascript.has((await readModuleName(one.tree, path)) ?? '')) found.push(path)
  // If the name existed before, it is a module of the project.
  const isOld = one.isOld ?? (() => false)
  for (const { name, place, file } of searched)
    if (imported.javascript.has(name) && !isOld(`${place}/`) && !isOld(`${place}.`)) found.push(file)
  return [...new Set(found)]
}

// Added modules with the name of one that is installed or comes with Python, except packages of the project that
// existed before.
function findPythonStandIns({
  added,
  root,
  path,
  wasThere = () => false,
}: AddedFiles): ReadonlyMap<string, readonly string[]> {
  const named = new Map<string, string[]>()
  for (const file of added.filter((one) => LOADED_BY_PYTHON.test(one))) {
    const at = PYTHON_ROOTS.findLast((one) => file.startsWith(one)) ?? ''
    const [, name] = /^([A-Za-z_]\w*)(\.pyc?$|(\.[\w-]+)?\.so$|\/)/.exec(file.slice(at.length)) ?? []
    if (name === undefined || wasThere(`${at}${name}/__init__.py`) || wasThere(`${at}${name}.py`)) continue
    named.set(name, [...(named.get(name) ?? []), file])
  }
  if (named.size === 0) return named
  const folders = listPythonFolders(root, path)
  const isInstalled = (name: string): boolean =>
    folders.some((folder) => existsSync(join(folder, name)) || existsSync(join(folder, `${name}.py`)))
  return new Map([...named].filter(([name]) => isInstalled(name)))
}

interface SearchedModule {
  readonly name: string
  /** The path of the module with that name, without its suffix. */
  readonly place: string
  readonly file: string
}

// Added modules in a folder that is searched by bare names.
function findSearchedModules({ added, folders = [] }: AddedFiles): readonly SearchedModule[] {
  return folders.flatMap((folder) => {
    const beginning = folder === '.' ? '' : `${folder}/`
    return added.flatMap((file) => {
      const at = file.startsWith(beginning) ? 0 : file.indexOf(`/${beginning}`) + 1
      const [, name] = (file.startsWith(beginning, at) ? BARE.exec(file.slice(at + beginning.length)) : null) ?? []
      return name === undefined ? [] : [{ name, place: `${file.slice(0, at)}${beginning}${name}`, file }]
    })
  })
}

const BARE =
  /^((?:@[\w.-]+\/)?[\w][\w-]*(?:\.(?![cm]?[jt]sx?$|json$|node$)[\w-]+)*)(?:\.(?:[cm]?[jt]sx?|json|node)$|\/)/

function listPythonFolders(root: string, path: string): readonly string[] {
  const places = path.split(delimiter).flatMap((folder) => {
    const above = join(folder, '..')
    const shims = folder.endsWith('/shims') ? listBelow(join(above, 'versions')) : []
    return [above, ...shims]
  })
  const versions = [...new Set([...places, join(root, '.venv'), join(root, 'venv'), ...listBelow(join(root, '.tox'))])]
    .flatMap((place) => listBelow(join(place, 'lib')))
    .filter((folder) => /\/python3[^/]*$/.test(folder))
  return versions.flatMap((folder) => [folder, join(folder, 'site-packages'), join(folder, 'dist-packages')])
}

function listBelow(folder: string): readonly string[] {
  return existsSync(folder) ? readdirSync(folder).map((name) => join(folder, name)) : []
}

const PYTHON = /\.pyi?$/
const LOADED_BY_PYTHON = /\.(?:pyc?|so)$/
const PYTHON_IMPORTS = /^[ \t]*(?:from[ \t]+(\w+)[\w.]*[ \t]+import|import[ \t]+([\w., \t]+))/gm
const JS_IMPORTS =
  /(?:from|import|require|mock|importActual|requireActual)\s*\(?\s*['"`](?:node:)?((?:@[\w.-]+\/)?[\w][\w.-]*)/g

interface ImportedNames {
  readonly python: ReadonlySet<string>
  readonly javascript: ReadonlySet<string>
}

// By language: `node:test` is not the package `test` of Python.
async function collectImported({ tree, tests }: AddedFiles): Promise<ImportedNames> {
  const python = new Set<string>()
  const javascript = new Set<string>()
  for (const path of tests.slice(0, TESTS_READ_MAX)) {
    const text = (await readText(tree as WorkTree, path)) ?? ''
    if (PYTHON.test(path))
      for (const [, from, list] of text.matchAll(PYTHON_IMPORTS))
        for (const name of (from ?? list ?? '').split(',')) python.add(name.trim().split(/[ .]/)[0] ?? '')
    else if (/\.[cm]?[jt]sx?$/.test(path)) for (const [, name] of text.matchAll(JS_IMPORTS)) javascript.add(name ?? '')
    if (python.size + javascript.size > NAMES_MAX) break
  }
  python.delete('')
  javascript.delete('')
  return { python, javascript }
}

async function readModuleName(tree: AddedFiles['tree'], path: string): Promise<string | null> {
  try {
    const { name } = JSON.parse((await tree.read(path))?.toString('utf8') ?? '') as { name?: unknown }
    return typeof name === 'string' ? name : null
  } catch {
    return null
  }
}
