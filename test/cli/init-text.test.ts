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

const settings = new Map([
  ['user.name', 'Ada'],
  ['user.email', 'ada@example.org'],
])

it('[REQ-INIT-2] other ways to test are named, unless the user was asked or said which one', () => {
  expect(formatSurvey(survey, { settings })).toContain('Go was taken; choose with --language NAME')
  expect(formatSurvey({ ...survey, isChosen: true }, { settings })).not.toContain('Also here')
  expect(formatSurvey(survey, { language: 'go', settings })).not.toContain('Also here')
})

it('[REQ-INIT-2] the author of commits is named, and what to do where git knows no name', () => {
  expect(formatSurvey(survey, { settings: new Map([['user.name', 'Ada']]) })).toContain(
    'Git        commits by Ada <agent@localhost>, the agent as co-author: git does not know your name and address.',
  )
  expect(formatSurvey(survey, { settings: new Map() })).toContain('git config --global user.name')
  expect(formatSurvey(survey, { settings })).toContain('Git        commits by Ada <ada@example.org>')
  expect(formatSurvey({ ...survey, hasGit: false }, { settings })).toContain('run `git init`')
})

it('[REQ-INIT-2] an active environment of Python outside of the repository is named', () => {
  const python = { ...survey, language: 'Python', testCommand: 'python3 -m pytest', install: 'make one', others: [] }
  const active = { settings, activeEnvironment: '/home/a/venv' }
  expect(formatSurvey(python, active)).toContain('The active environment /home/a/venv is outside of the repository')
  expect(formatSurvey(python, { settings })).not.toContain('environment')
  expect(formatSurvey({ ...python, testCommand: '.venv/bin/python -m pytest' }, active)).not.toContain('environment')
})
