import { JAVASCRIPT } from './javascript-samples.js'
import { describeSamples } from './samples.suite.js'

describeSamples(JAVASCRIPT)
