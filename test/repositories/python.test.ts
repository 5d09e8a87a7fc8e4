import { PYTHON } from './python-samples.js'
import { describeSamples } from './samples.suite.js'

describeSamples(PYTHON)
