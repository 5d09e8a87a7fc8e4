import { expect, it } from 'vitest'
import { formatSurvey } from '../../src/cli/init/init-text.js'
import type { Survey } from '../../src/cli/init/survey.js'

const project = { because: 'x', reason: 'go.mod', runs: '', builds: [], lints: [], install: '', problem: null }
const survey = {
  ...{
    ...project,
    language: 'Go',
    testCommand: 'go test ./...',
    project: 'chi',
    hasGit: true,
    files: [],
    testFiles: [],
  },
  others: [{ ...project, language: 'unknown', testCommand: 'make test', reason: 'Makefile' }],
} as unknown as Survey

it('[REQ-INIT-2] other ways to test are named, unless the user was asked or said which one', () => {
  expect(formatSurvey(survey, {})).toContain('Go was taken; choose with --language NAME')
  expect(formatSurvey({ ...survey, isChosen: true }, {})).not.toContain('Also here')
  expect(formatSurvey(survey, { language: 'go' })).not.toContain('Also here')
})
