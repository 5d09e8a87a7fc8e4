import { fileURLToPath } from 'node:url'

/** The folder of the package. It is two folders up from src/base, dist/base and the bundles in dist/program alike. */
export const PACKAGE_ROOT = new URL('../../', import.meta.url)

/** The path of a file or folder of the package, given relative to its root. */
export function packagePath(path: string): string {
  return fileURLToPath(new URL(path, PACKAGE_ROOT))
}
