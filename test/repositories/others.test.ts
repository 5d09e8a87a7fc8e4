import { OTHERS } from './other-samples.js'
import { describeSamples } from './samples.suite.js'

describeSamples(OTHERS)
