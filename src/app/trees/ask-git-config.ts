import { execFile } from 'node:child_process'

const GIT_MS_MAX = 10_000
// git uses these variables to find the operator's settings.
const VARIABLES = ['PATH', 'HOME', 'XDG_CONFIG_HOME', 'GIT_CONFIG_GLOBAL', 'GIT_CONFIG_SYSTEM', 'GIT_CONFIG_NOSYSTEM']

/** What `git config` prints when it runs outside any repository; null when it fails. */
export function askGitConfig(
  environment: NodeJS.ProcessEnv,
  words: readonly string[],
  input = '',
): Promise<string | null> {
  const given = VARIABLES.map((name) => [name, environment[name]]).filter(([, value]) => value !== undefined)
  const env = {
    ...Object.fromEntries(given),
    PATH: environment.PATH ?? process.env.PATH,
    LC_ALL: 'C',
    GIT_DIR: '/dev/null',
  }
  const options = { cwd: '/', env, encoding: 'utf8', timeout: GIT_MS_MAX } as const
  return new Promise((resolve) => {
    const child = execFile('git', ['config', ...words], options, (error, stdout) =>
      resolve(error === null ? stdout : null),
    )
    child.stdin?.on('error', () => undefined)
    child.stdin?.end(input)
  })
}
