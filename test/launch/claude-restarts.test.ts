import { CLAUDE } from './claude-session.js'
import { describeRestarts } from './walks.js'

describeRestarts(CLAUDE)
