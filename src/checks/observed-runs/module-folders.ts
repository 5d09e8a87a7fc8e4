import { posix } from 'node:path'
import type { Contract } from '../../core/contract/contract.js'
import type { ListedFile, WorkTree } from '../../tree/work-tree.js'
import { readText } from '../test-files/test-files.js'
import { makeListing } from '../test-setup/listing.js'

const FOLDERS_MAX = 200

/**
 * Folders of the project in which Node.js, a runner or a compiler looks for modules by their bare names: `NODE_PATH` of a command, a
 * script or an environment file, `moduleDirectories` and `modulePaths` of jest, `resolve.modules` of bundlers, `baseUrl`.
 */
export async function findModuleFolders(
  tree: WorkTree,
  contract: Contract,
  listed: readonly ListedFile[],
): Promise<readonly string[]> {
  const commands = [...contract.commands.values()]
  const found = new Set<string>()
  const add = (folder: string, text: string): void => {
    for (const name of parseFolders(text)) if (found.size < FOLDERS_MAX) found.add(posix.join(folder, name))
  }
  for (const { run, env } of commands) add('.', `${run}\n${JSON.stringify(env)}`)
  const { setup, links } = makeListing(listed)
  const isLink = new Set(links)
  for (const { path } of setup)
    if (!isLink.has(path) && !path.endsWith('.py')) add(posix.dirname(path), (await readText(tree, path)) ?? '')
  return [...found].filter((folder) => !folder.startsWith('..') && !/(^|\/)node_modules(\/|$)/.test(folder))
}

function parseFolders(text: string): readonly string[] {
  const variables = [...text.matchAll(NODE_PATH)].flatMap(([, value = '']) => value.split(/[:;]/))
  const lists = [...text.matchAll(LISTS)].flatMap(([, value = '']) =>
    [...value.matchAll(/['"`]([^'"`\n]{1,300})['"`]/g)].map(([, one = '']) => one),
  )
  return [...variables, ...lists].flatMap((one) => {
    const folder = one.replace(/^(<rootDir>|\$PWD|\$\{PWD\}|\$\(pwd\)|\$INIT_CWD)\/?/, './').replace(/\/+$/, '')
    return folder === '' || /^\/|\$/.test(folder) ? [] : [folder]
  })
}

const NODE_PATH = /NODE_PATH\\?['"]?\s*[=:]\s*\\?['"]?([^\s'"\\&|]{1,500})/g
const LISTS =
  /(?:moduleDirectories|modulePaths|modules|baseUrl)['"]?\s*:\s*(\[[^\]]{0,2000}\]|['"`][^'"`\n]{0,300}['"`])/g
