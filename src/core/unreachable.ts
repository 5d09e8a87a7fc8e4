/** Ends a `switch` over a union: a new member that nobody handles breaks the build here. */
export function assertUnreachable(value: never): never {
  throw new Error(`unhandled case: ${JSON.stringify(value)}`)
}
