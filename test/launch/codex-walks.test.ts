import { CODEX_WITH_MODELS } from './codex-session.js'
import { describeRestarts, describeWalks, describeWhole } from './walks.js'

// Their own tools cannot be switched off, and must change nothing.
for (const cli of CODEX_WITH_MODELS) {
  describeWhole(cli)
  describeWalks(cli)
  describeRestarts(cli)
}
