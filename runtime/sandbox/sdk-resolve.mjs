import { pathToFileURL } from 'node:url'

const NAME = 'orchestrator-agent-sdk'

export async function resolve(specifier, context, next) {
  const sdk = process.env.PHASELOCK_SDK
  if (specifier !== NAME || sdk === undefined) return next(specifier, context)
  try {
    // If the program brings its own copy, use that one: the program was written for it.
    return await next(specifier, context)
  } catch {
    return next(pathToFileURL(`${sdk}/dist/index.js`).href, context)
  }
}
