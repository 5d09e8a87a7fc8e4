const SEPARATOR = ' › '

/**
 * With several files ava names the file of every test: `carts › sums up`. Without it a test has the same name however
 * many files there are, and is found in its file by its name.
 */
export function dropFilesOfAva(tests: readonly { readonly path: string[] }[]): void {
  if (!tests.every(({ path }) => path.length === 1 && path[0]?.includes(SEPARATOR) === true)) return
  for (const { path } of tests) path[0] = path[0]?.slice(path[0].indexOf(SEPARATOR) + SEPARATOR.length) ?? ''
}
