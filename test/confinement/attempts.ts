import { quoted } from './account.js'

/** One attempt: a script for bash that ends with 0 when it succeeded. */
export interface Attempt<T> {
  readonly name: string
  readonly script: (at: T) => string
  /**
   * What the same attempt needs outside to succeed: `plain` nothing, `namespaces` namespaces that any user can make, `root` a server
   * of root. Where that is not to be had, the attempt must still fail inside.
   */
  readonly needs: 'plain' | 'namespaces' | 'root'
}

const SECONDS_MAX = 8

/** One script that makes every attempt by itself and says of each whether it succeeded. */
export function bundled<T>(attempts: readonly Attempt<T>[], at: T): string {
  return attempts
    .map(({ script }, index) => {
      const one = `timeout ${SECONDS_MAX} bash -c ${quoted(script(at))}`
      return `${one} </dev/null >/dev/null 2>&1 && echo "attempt ${index} succeeded" || echo "attempt ${index} failed"`
    })
    .join('\n')
}

export type Outcome = 'succeeded' | 'failed' | 'never made'

export function outcomesOf<T>(attempts: readonly Attempt<T>[], stdout: string): ReadonlyMap<string, Outcome> {
  const said = new Map(
    [...stdout.matchAll(/^attempt (\d+) (succeeded|failed)$/gm)].map((one) => [Number(one[1]), one[2] as Outcome]),
  )
  return new Map(attempts.map(({ name }, index) => [name, said.get(index) ?? 'never made']))
}
