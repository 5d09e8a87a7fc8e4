import { basename, resolve } from 'node:path'
import { listProjectFiles } from '../trial/tracked-files.js'
import { findNodeProject } from './node-project.js'
import { findMakeProject, findOtherProjects } from './other-projects.js'
import { Folder, findEnding, isTestFile, type Project } from './project.js'
import { findPythonProject } from './python-project.js'

/** The findings about a repository. */
export interface Survey extends Project {
  readonly project: string
  readonly hasGit: boolean
  readonly files: readonly string[]
  /** Files that are tests by their name or folder. */
  readonly testFiles: readonly string[]
  /** Other ways to build and test it, most likely first. */
  readonly others: readonly Project[]
  /** Set if the user named the command: it is tried unchanged. */
  readonly isGiven?: true
  /** Set if the user was asked which of them it is. */
  readonly isChosen?: true
}

const UNKNOWN: Project = {
  ...{ language: 'unknown', because: '', reason: '', testCommand: null, runs: '' },
  ...{ builds: [], lints: [], install: '', problem: null },
}

const NICKNAMES: Readonly<Record<string, string>> = {
  ...{
    js: 'javascript',
    node: 'javascript',
    ts: 'typescript',
    py: 'python',
    golang: 'go',
    csharp: 'c#',
    make: 'unknown',
  },
}

/** Inspects a folder without running anything in it. `language` chooses among several candidates. */
export function surveyFolder(path: string, language?: string): Survey {
  const folder = new Folder(path, listProjectFiles(path))
  const found = findProjects(folder)
  const wanted = language === undefined ? undefined : found.find((project) => isLanguage(project, language))
  const chosen = wanted ?? found[0] ?? UNKNOWN
  return {
    ...chosen,
    project: basename(resolve(path)),
    hasGit: folder.has('.git'),
    files: folder.files,
    testFiles: folder.files.filter((file) => findEnding(chosen.language).test(file) && isTestFile(file)),
    others: found.filter((project) => project !== chosen),
  }
}

export function isLanguage(project: Pick<Project, 'language'>, name: string): boolean {
  const wanted = NICKNAMES[name.toLowerCase()] ?? name.toLowerCase()
  const own = project.language.toLowerCase()
  return own === wanted || (wanted === 'javascript' && own === 'typescript')
}

/** All candidates: with a test command first, then by how much of the repository is tests or sources of that language. */
function findProjects(folder: Folder): readonly Project[] {
  const make = findMakeProject(folder)
  const all = [findPythonProject(folder), ...findOtherProjects(folder), findNodeProject(folder)]
  const found = all.flatMap((project) => project ?? [])
  const ranked = found
    .map((project) => ({ project, ...folder.count(findEnding(project.language)) }))
    .sort((a, b) => rank(a.project) - rank(b.project) || b.tests - a.tests || b.sources - a.sources)
    .map(({ project }) => project)
  const isTested = ranked.some(({ testCommand }) => testCommand !== null)
  if (make === null) return ranked
  return isTested ? [...ranked, make] : [{ ...make, language: ranked[0]?.language ?? make.language }, ...ranked]
}

function rank({ testCommand, problem }: Project): number {
  return testCommand !== null && problem === null ? 0 : 1
}
