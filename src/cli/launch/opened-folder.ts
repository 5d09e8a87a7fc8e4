import { basename, join } from 'node:path'
import type { SessionPlan } from './agent-cli-kind.js'

/**
 * A private folder in which a CLI is opened instead of the work tree, for CLIs that run programs which settings of the
 * folder name. It is the root of an empty repository: CLIs look into every folder above, up to the root of one.
 */
export interface OpenedFolder {
  /** By their path below the folder of the session; a path that ends with `/` is a folder. */
  readonly files: Readonly<Record<string, string>>
  readonly cwd: string
}

/** The folder, named like the work tree, with these files. */
export function planOpenedFolder(
  { folder, workspace }: SessionPlan,
  files: Readonly<Record<string, string>>,
): OpenedFolder {
  const name = join('opened', basename(workspace))
  const all = {
    ...files,
    '.git/HEAD': 'ref: refs/heads/main\n',
    '.git/config': '[core]\n\trepositoryformatversion = 0\n\tbare = false\n',
    ...{ '.git/objects/': '', '.git/refs/': '' },
  }
  return {
    files: Object.fromEntries(Object.entries(all).map(([path, text]) => [`${name}/${path}`, text])),
    cwd: join(folder, name),
  }
}
