// Loaded before Node programs that Phaselock starts as agents: makes the client importable by its name, wherever the
// program is.
import { register } from 'node:module'

register('./sdk-resolve.mjs', import.meta.url)
