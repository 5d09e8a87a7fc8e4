import { PYTEST } from './python-samples.js'
import { describeSamples, GREEN } from './samples.suite.js'

describeSamples([PYTEST], [GREEN])
