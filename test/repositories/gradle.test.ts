import { GRADLE } from './gradle-sample.js'
import { describeSamples } from './samples.suite.js'

describeSamples([GRADLE])
