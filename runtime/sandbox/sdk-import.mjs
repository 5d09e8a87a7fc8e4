// Loaded before programs for Node that Phaselock starts as agents: makes the client known to them by its name, wherever they lie.
import { register } from 'node:module'

register('./sdk-resolve.mjs', import.meta.url)
