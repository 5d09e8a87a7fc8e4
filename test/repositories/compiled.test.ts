import { COMPILED } from './compiled-samples.js'
import { describeSamples } from './samples.suite.js'

describeSamples(COMPILED)
