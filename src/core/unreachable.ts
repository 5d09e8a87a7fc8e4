/** Ends a `switch` over a union: an unhandled member breaks the build here. */
export function assertUnreachable(value: never): never {
  throw new Error(`unhandled case: ${JSON.stringify(value)}`)
}
