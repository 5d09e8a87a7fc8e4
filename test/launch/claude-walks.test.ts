import { CLAUDE } from './claude-session.js'
import { describeWalks } from './walks.js'

describeWalks(CLAUDE)
