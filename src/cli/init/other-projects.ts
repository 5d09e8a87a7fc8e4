import type { Folder, Project } from './project.js'

type Found = Pick<Project, 'language' | 'testCommand' | 'install' | 'reportFile'> & {
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
  ['mix.exs', () => ({ language: 'Elixir', testCommand: 'mix test', install: 'mix deps.get' })],
  ['composer.json', readPhp],
]

/** Projects of languages with one manifest each. */
export function findOtherProjects(folder: Folder): readonly Project[] {
  const found = KINDS.flatMap(([file, read]): readonly Project[] => {
    if (!folder.hasFile(file)) return []
    const manifest = folder.readManifest(file)
    const text = 'text' in manifest ? manifest.text : ''
    const { with: more = [], ...project } = read(folder, text)
    const problem = 'problem' in manifest ? manifest.problem : findJsonProblem(file, text)
    return [makeProject({ ...project, because: file, reason: [file, ...more].join(', '), problem })]
  })
  const solution = folder.files.find((path) => /^[^/]+\.(sln|slnx|csproj|fsproj)$/.test(path))
  if (solution !== undefined)
    found.push(
      makeProject({
        ...{ language: 'C#', testCommand: 'dotnet test', install: 'dotnet restore' },
        ...{ because: solution, reason: solution, problem: null },
      }),
    )
  // One manifest for each language: go.work goes before go.mod, a build file before its settings.
  return found.filter((project, at) => found.findIndex(({ language }) => language === project.language) === at)
}

/** What `make test` runs, if nothing else says how tests are run. */
export function findMakeProject(folder: Folder): Project | null {
  const name = ['GNUmakefile', 'makefile', 'Makefile'].find((file) => folder.hasFile(file))
  const target = name === undefined ? null : /^(test|tests|check)\s*:(?!=)/m.exec(folder.read(name))?.[1]
  if (name === undefined || target === null || target === undefined) return null
  const reason = `${name} with the target ${target}`
  const testCommand = `make ${target}`
  return makeProject({ language: 'unknown', because: name, reason, testCommand, install: 'make', problem: null })
}

function makeProject(
  about: Pick<Project, 'language' | 'because' | 'reason' | 'testCommand' | 'install' | 'problem' | 'reportFile'>,
): Project {
  return { ...about, runs: about.testCommand ?? '', builds: [], lints: [] }
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
  return {
    language: 'Java',
    // A module that fails does not keep those beside it from running.
    testCommand: `${program} -B -o ${modules.length === 0 ? '' : '-fae '}test`,
    reportFile: { format: 'junit', report: '**/target/surefire-reports/TEST-*.xml' },
    install: `${program} dependency:go-offline`,
    ...(modules.length === 0 ? {} : { with: [`modules ${modules.join(' ')}`] }),
  }
}

function readGradle(folder: Folder, _: string, language: string): Found {
  const program = folder.hasFile('gradlew') || !folder.has('gradle') ? './gradlew' : 'gradle'
  const settings = ['settings.gradle', 'settings.gradle.kts'].map((name) => folder.read(name)).join('\n')
  const modules = [...settings.matchAll(/["'](:[\w:-]+)["']/g)].map(([, name = '']) => name)
  return {
    language,
    testCommand: `${program} --offline --no-daemon ${modules.length === 0 ? '' : '--continue '}test`,
    reportFile: { format: 'junit', report: '**/build/test-results/**/TEST-*.xml' },
    install: `${program} testClasses`,
    ...(modules.length === 0 ? {} : { with: [`modules ${modules.join(' ')}`] }),
  }
}

function readRuby(folder: Folder, text: string): Found {
  const isRspec = folder.hasFile('.rspec') || /\brspec\b/.test(text)
  const base = { language: 'Ruby', install: 'bundle install' }
  if (!isRspec) return { ...base, testCommand: 'bundle exec rake test' }
  const report = 'rspec-report.json'
  const testCommand = `bundle exec rspec --format progress --format json --out ${report}`
  return { ...base, testCommand, reportFile: { format: 'rspec', report } }
}

function readPhp(folder: Folder, text: string): Found {
  const isPhpunit = folder.hasFile('phpunit.xml') || folder.hasFile('phpunit.xml.dist')
  const hasScript = /"test"\s*:/.test(text)
  const base = { language: 'PHP', install: 'composer install' }
  if (hasScript || !isPhpunit) return { ...base, testCommand: 'composer test' }
  const report = 'phpunit-report.xml'
  return { ...base, testCommand: `vendor/bin/phpunit --log-junit ${report}`, reportFile: { format: 'junit', report } }
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
