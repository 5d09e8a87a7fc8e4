import { readPhp } from './php-project.js'
import type { Folder, Project } from './project.js'
import { findReportFile, RSPEC_REPORT } from './report-files.js'

type Found = Pick<Project, 'language' | 'testCommand' | 'install' | 'reportFile'> & {
  readonly lints?: Project['lints']
  readonly with?: readonly string[]
}

const KINDS: readonly (readonly [file: string, read: (folder: Folder, text: string) => Found])[] = [
  ['go.work', readGoWorkspace],
  // Without -json or -v, go test does not count the tests that passed.
  ['go.mod', () => ({ language: 'Go', testCommand: 'go test -json ./...', install: 'go mod download' })],
  ['Cargo.toml', readCargo],
  ['pom.xml', readMaven],
  ['build.gradle', (folder, text) => readGradle(folder, text, 'Java')],
  ['build.gradle.kts', (folder, text) => readGradle(folder, text, 'Kotlin')],
  ['settings.gradle', (folder, text) => readGradle(folder, text, 'Java')],
  ['settings.gradle.kts', (folder, text) => readGradle(folder, text, 'Kotlin')],
  ['Gemfile', readRuby],
  ['.rspec', readRuby],
  ['mix.exs', () => ({ language: 'Elixir', testCommand: 'mix test', install: 'mix deps.get' })],
  ['composer.json', readPhp],
  ['phpunit.xml', (folder) => readPhp(folder, '')],
  ['phpunit.xml.dist', (folder) => readPhp(folder, '')],
]

/** Projects of languages with one manifest each. */
export function findOtherProjects(folder: Folder): readonly Project[] {
  const found = KINDS.flatMap(([file, read]): readonly Project[] => {
    if (!folder.hasFile(file)) return []
    const manifest = folder.readManifest(file)
    const text = 'text' in manifest ? manifest.text : ''
    const { with: more = [], ...project } = read(folder, text)
    const problem = 'problem' in manifest ? manifest.problem : findJsonProblem(file, text)
    return [makeProject({ ...project, because: file, reason: [...new Set([file, ...more])].join(', '), problem })]
  })
  const solution = folder.files.find((path) => /^[^/]+\.(sln|slnx|csproj|fsproj)$/.test(path))
  if (solution !== undefined)
    found.push(
      makeProject({
        ...{ language: 'C#', testCommand: 'dotnet test', install: 'dotnet restore' },
        ...{ because: solution, reason: solution, problem: null },
      }),
    )
  // One manifest for each build system: go.work goes before go.mod, a build file before its settings.
  const systems = found.map(
    ({ language, reportFile }) => `${language} ${JAVA.includes(language) ? reportFile?.report : ''}`,
  )
  return found.filter((_, at) => systems.indexOf(systems[at] ?? '') === at)
}

/** Languages with two build systems, which write to different places. */
const JAVA = ['Java', 'Kotlin']

/** What `make test` runs, if nothing else says how tests are run. */
export function findMakeProject(folder: Folder): Project | null {
  const name = ['GNUmakefile', 'makefile', 'Makefile'].find((file) => folder.hasFile(file))
  if (name === undefined) return null
  const text = folder.read(name)
  // `check` often means linters.
  const target = ['test', 'tests', 'check'].find((one) => new RegExp(`^${one}\\s*:(?!=)`, 'm').test(text))
  if (target === undefined) return null
  const reason = `${name} with the target ${target}`
  const testCommand = `make ${target}`
  return makeProject({ language: 'unknown', because: name, reason, testCommand, install: 'make', problem: null })
}

function makeProject(
  about: Pick<Project, 'language' | 'because' | 'reason' | 'testCommand' | 'install' | 'problem' | 'reportFile'> &
    Partial<Pick<Project, 'lints'>>,
): Project {
  return { lints: [], ...about, runs: about.testCommand ?? '', builds: [] }
}

function readGoWorkspace(_: Folder, text: string): Found {
  const listed = [...text.matchAll(/^use\s+(?!\()(\S+)/gm)].map(([, name = '']) => name)
  const [, block = ''] = /^use\s*\(([^)]*)\)/m.exec(text) ?? []
  const names = [...listed, ...block.split('\n').map((line) => line.replace(/\/\/.*/, '').trim())]
  const modules = names.filter((name) => /^\.[\w./-]*$/.test(name)).map((name) => name.replace(/\/$/, ''))
  const paths = modules.map((name) => (name === '.' ? './...' : `${name}/...`))
  const testCommand = `go test -json ${paths.length === 0 ? './...' : paths.join(' ')}`
  return { language: 'Go', testCommand, install: 'go mod download', with: [`modules ${modules.join(' ')}`] }
}

function readCargo(_: Folder, text: string): Found {
  const isWorkspace = /^\s*\[workspace\]/m.test(text)
  // Without it, cargo runs nothing behind the first test program that fails.
  const testCommand = isWorkspace ? 'cargo test --workspace --no-fail-fast' : 'cargo test --no-fail-fast'
  return { language: 'Rust', testCommand, install: 'cargo fetch', ...(isWorkspace ? { with: ['a workspace'] } : {}) }
}

function readMaven(folder: Folder, text: string): Found {
  const program = folder.hasFile('mvnw') ? './mvnw' : 'mvn'
  const modules = [...text.matchAll(/<module>\s*([^<\s]+)/g)].map(([, name = '']) => name)
  // A module that fails does not keep those beside it from running.
  const testCommand = `${program} -B -o ${modules.length === 0 ? '' : '-fae '}test`
  return {
    language: chooseJava(folder, 'Java'),
    testCommand,
    reportFile: findReportFile(testCommand),
    install: `${program} dependency:go-offline`,
    ...(modules.length === 0 ? {} : { with: [`modules ${modules.join(' ')}`] }),
  }
}

function readGradle(folder: Folder, _: string, language: string): Found {
  const program = folder.hasFile('gradlew') ? './gradlew' : 'gradle'
  const settings = ['settings.gradle', 'settings.gradle.kts'].map((name) => folder.read(name)).join('\n')
  const lists = [...settings.matchAll(/^\s*include\b[\s(]*((?:["'][\w:./-]+["'][,\s]*)+)/gm)]
  const modules = lists.flatMap(([, list = '']) => [...list.matchAll(/["']([^"']+)["']/g)].map(([, name = '']) => name))
  const testCommand = `${program} --offline --no-daemon ${modules.length === 0 ? '' : '--continue '}test`
  return {
    language: chooseJava(folder, language),
    testCommand,
    reportFile: findReportFile(testCommand),
    install: `${program} testClasses`,
    ...(modules.length === 0 ? {} : { with: [`modules ${modules.join(' ')}`] }),
  }
}

// Which language a build file is written in says little about the sources.
function chooseJava(folder: Folder, otherwise: string): string {
  const [java, kotlin] = [folder.count(/\.java$/).sources, folder.count(/\.kt$/).sources]
  if (java === kotlin) return otherwise
  return java > kotlin ? 'Java' : 'Kotlin'
}

const RSPEC_GEM = /^[^#\n]*["']rspec(?:-core|-rails)?["']/m

function readRuby(folder: Folder, text: string): Found {
  const specifications = folder.files.filter((path) => /^[^/]+\.gemspec$/.test(path)).map((path) => folder.read(path))
  const isRspec = folder.hasFile('.rspec') || [text, ...specifications].some((one) => RSPEC_GEM.test(one))
  const base = { language: 'Ruby', install: 'bundle install' }
  const bundle = folder.hasFile('Gemfile') ? 'bundle exec ' : ''
  if (isRspec) {
    const testCommand = `${bundle}rspec --format progress --format json --out ${RSPEC_REPORT}`
    return { ...base, testCommand, reportFile: findReportFile(testCommand) }
  }
  const hasTasks = ['Rakefile', 'rakefile', 'Rakefile.rb'].some((file) => folder.hasFile(file))
  return { ...base, testCommand: hasTasks ? `${bundle}rake test` : null, with: [hasTasks ? 'Rakefile' : 'no Rakefile'] }
}

function findJsonProblem(file: string, text: string): string | null {
  if (!file.endsWith('.json')) return null
  try {
    JSON.parse(text)
    return null
  } catch (error) {
    return `${file} is not valid JSON (${error instanceof Error ? error.message : 'fault'})`
  }
}
