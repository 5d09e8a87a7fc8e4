import { EXIT, Stop } from '../exit.js'
import { askLine, canAsk, tell } from '../terminal/terminal.js'
import { describeProject } from './init-text.js'
import { findReportFile } from './report-files.js'
import { isLanguage, type Survey, surveyFolder } from './survey.js'

interface Wanted {
  readonly language?: string
  readonly tests?: string
  readonly yes?: boolean
}

/** Inspects a repository; if it can be built in several ways, the user chooses one. */
export async function chooseProject(folder: string, { language, tests, yes }: Wanted): Promise<Survey> {
  const survey = surveyFolder(folder, language)
  if (language !== undefined && !isLanguage(survey, language)) {
    const names = [survey, ...survey.others].map((project) => project.language).filter((name) => name !== 'unknown')
    const found = names.length === 0 ? 'no language was recognised here' : `found here: ${names.join(', ')}`
    throw new Stop(EXIT.usage, `--language ${language} does not fit: ${found}.`)
  }
  if (tests !== undefined)
    return {
      ...survey,
      testCommand: tests,
      runs: tests,
      reportFile: findReportFile(tests),
      builds: [],
      lints: survey.lints.filter(({ run }) => !tests.includes(run)),
      problem: null,
      isGiven: true,
    }
  const candidates = [survey, ...survey.others].filter(({ testCommand }) => testCommand !== null)
  if (candidates.length < 2 || language !== undefined || yes === true || !canAsk()) return survey
  tell('This repository can be tested in several ways:')
  for (const [at, candidate] of candidates.entries()) tell(`  ${at + 1}. ${describeProject(candidate)}`)
  const answer = await askLine(`Which one? [1-${candidates.length}, Enter: 1] `)
  const chosen = candidates[answer.trim() === '' ? 0 : Number(answer) - 1]
  if (chosen === undefined) throw new Stop(EXIT.usage, 'That is not one of the numbers; nothing was written.')
  return {
    ...survey,
    ...chosen,
    others: [survey, ...survey.others].filter((other) => other.because !== chosen.because),
    isChosen: true,
  }
}
