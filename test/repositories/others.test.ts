import { it } from 'vitest'
import { OTHERS } from './other-samples.js'
import { describeSamples } from './samples.suite.js'

describeSamples(OTHERS)

const NO_GRADLE =
  'Gradle is not tried: the one that apt has is too old for JUnit 5; cli/survey covers the command that init writes'

it('[REQ-MATRIX-1] Gradle', ({ skip }) => {
  process.stdout.write(`skipped: Gradle: ${NO_GRADLE}\n`)
  skip(NO_GRADLE)
})
