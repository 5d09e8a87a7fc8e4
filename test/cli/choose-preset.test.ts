import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { choosePreset } from '../../src/cli/init/choose-preset.js'
import { chooseProject } from '../../src/cli/init/choose-project.js'
import { buildContract } from '../../src/cli/init/contract-text.js'
import { type Survey, surveyFolder } from '../../src/cli/init/survey.js'
import { findTestPatterns } from '../../src/cli/init/test-patterns.js'
import { loadContractText } from '../../src/contract/load/load-contract.js'
import type { ObservedRun } from '../../src/core/evidence/observed-run.js'

const root = mkdtempSync(join(tmpdir(), 'phaselock-presets-'))
afterAll(() => rmSync(root, { recursive: true, force: true }))

type Files = Readonly<Record<string, string>>
let made = 0

function folder(files: Files): string {
  made += 1
  const dir = join(root, `project-${made}`)
  for (const [file, text] of Object.entries(files)) {
    mkdirSync(join(dir, dirname(file)), { recursive: true })
    writeFileSync(join(dir, file), text)
  }
  return dir
}

const survey = (files: Files): Survey => surveyFolder(folder(files))
const readAs = (format: string): ObservedRun => ({ format, tests: [] }) as unknown as ObservedRun
const composer = (fields: object): Files => ({ 'composer.json': JSON.stringify(fields) })
const UNIT = { 'phpunit/phpunit': '^11' }

const MAVEN: Files = {
  'pom.xml': '<project/>',
  'src/main/java/carts/test/Rig.java': '',
  'src/test/java/carts/PriceTest.java': '',
}
const GRADLE: Files = { 'build.gradle.kts': '', gradlew: '', 'src/test/java/carts/PriceTest.java': '' }
const RSPEC: Files = { Gemfile: "gem 'rspec'\n", 'spec/price_spec.rb': '' }
const PHPUNIT: Files = { ...composer({ 'require-dev': UNIT }), 'phpunit.xml': '', 'tests/PriceTest.php': '' }

describe('no preset', () => {
  test('[REQ-INIT-7] where the trial read another format than that of the preset', () => {
    expect(choosePreset(survey(MAVEN), readAs('maven'))).toBeNull()
    expect(choosePreset(survey(RSPEC), readAs('tap'))).toBeNull()
    expect(choosePreset(survey(PHPUNIT), readAs('phpunit'))).toBeNull()
  })

  test.each([
    ['bundle exec rspec', RSPEC],
    ['bundle exec rspec --format json --out /tmp/r.json', RSPEC],
    ['bundle exec rspec --format json --out ../r.json', RSPEC],
    ['vendor/bin/phpunit', PHPUNIT],
    ['composer test', PHPUNIT],
    ['mvn -o test && mvn -o -f other test', MAVEN],
  ])('[REQ-INIT-7] for `%s`, which writes no report that is known', async (tests, files) => {
    const found = await chooseProject(folder(files), { tests })
    expect(found.reportFile).toBeUndefined()
    expect(choosePreset(found, null)).toBeNull()
  })

  test('[REQ-INIT-7] for a command of two build systems', () => {
    const both = { ...survey(MAVEN), testCommand: 'mvn -f gradle test', runs: 'mvn -f gradle test' }
    expect(choosePreset(both, readAs('junit'))).toBeNull()
  })

  test('[REQ-INIT-7] for a runner that has none', () => {
    const minitest = survey({ Gemfile: "gem 'minitest'\n# gem 'rspec'\n", Rakefile: '' })
    expect(minitest.testCommand).toBe('bundle exec rake test')
    expect(choosePreset(minitest, null)).toBeNull()
  })
})

const FITTING: readonly (readonly [string, Files, string, Record<string, unknown>, readonly string[]])[] = [
  [
    'phaselock/java-maven',
    MAVEN,
    'junit',
    { run: 'mvn -B -o test', format: 'junit', report: '**/target/surefire-reports/TEST-*.xml' },
    ['**/src/test/**'],
  ],
  [
    'phaselock/java-gradle',
    GRADLE,
    'junit',
    {
      run: './gradlew --offline --no-daemon test',
      format: 'junit',
      report: '**/build/test-results/**/TEST-*.xml',
    },
    ['**/src/test/**'],
  ],
  [
    'phaselock/ruby-rspec',
    RSPEC,
    'rspec',
    {
      run: 'bundle exec rspec --format progress --format json --out rspec-report.json',
      format: 'rspec',
      report: 'rspec-report.json',
    },
    ['**/*_spec.rb', '**/*_test.rb', 'spec/**'],
  ],
  [
    'phaselock/php-phpunit',
    PHPUNIT,
    'junit',
    { run: 'vendor/bin/phpunit --log-junit phpunit-report.xml', format: 'junit', report: 'phpunit-report.xml' },
    ['**/*Test.php', 'tests/**'],
  ],
]

test.each(FITTING)('[REQ-INIT-7] %s: a short contract that loads', async (name, files, format, command, patterns) => {
  const found = survey(files)
  for (const run of [readAs(format), null]) {
    const preset = choosePreset(found, run)
    expect(preset?.name).toBe(name)
    const text = buildContract(
      {
        ...{ project: 'carts', language: found.language, command: found.testCommand, reportFile: found.reportFile },
        ...{ timeoutSeconds: null, mayWrite: [], steps: [], coverage: null, preset },
        patterns: findTestPatterns(found.language, { ...found, run }),
      },
      'tdd',
    )
    expect(text).toContain(`extends: [ phaselock/tdd, ${name} ]`)
    const loaded = await loadContractText(text, { file: 'x.yaml', baseDir: null })
    if (!loaded.ok) throw new Error(JSON.stringify(loaded.diagnostics))
    expect(loaded.contract.commands.get('tests')).toMatchObject(command)
    expect(loaded.contract.tests.patterns).toEqual(patterns)
  }
})

test('[REQ-INIT-7] a named command of Maven or Gradle is read from the files that they write', async () => {
  const gradle = await chooseProject(folder(GRADLE), { tests: './gradlew --offline :app:test' })
  expect(choosePreset(gradle, readAs('junit'))?.name).toBe('phaselock/java-gradle')
  const verify = await chooseProject(folder(MAVEN), { tests: 'mvn -o verify' })
  expect(verify.reportFile).toEqual({ format: 'junit', report: '**/target/*-reports/TEST-*.xml' })
})

test('[REQ-INIT-2] Maven and Gradle beside each other are two candidates', () => {
  const found = survey({ ...MAVEN, ...GRADLE })
  const commands = [found, ...found.others].map(({ testCommand }) => testCommand)
  expect(commands).toEqual(['mvn -B -o test', './gradlew --offline --no-daemon test'])
})

test('[REQ-INIT-2] Gradle without its wrapper, and with modules in each way to write them', () => {
  const run = (files: Files): string | null => survey(files).testCommand
  expect(run({ 'build.gradle': '' })).toBe('gradle --offline --no-daemon test')
  for (const text of ["include 'app', 'lib'", "include(\n  'app',\n  'lib'\n)", 'include(":app")\ninclude(":lib")'])
    expect(run({ 'build.gradle': '', gradlew: '', 'settings.gradle': text }), text).toMatch(/--continue test$/)
  const alone = { 'build.gradle': '', gradlew: '', 'settings.gradle': "rootProject.name = 'carts'\n" }
  expect(run(alone)).toBe('./gradlew --offline --no-daemon test')
})

test('[REQ-INIT-2] the sources say whether it is Java or Kotlin', () => {
  expect(survey(GRADLE).language).toBe('Java')
  expect(survey({ 'build.gradle': '', 'src/main/kotlin/A.kt': '' }).language).toBe('Kotlin')
})

test('[REQ-INIT-4] further source sets of Java are test folders, a package named test is not', () => {
  const found = survey({
    ...GRADLE,
    'src/main/java/test/Rig.java': '',
    'app/src/integrationTest/java/AllTest.java': '',
  })
  expect(findTestPatterns('Java', { ...found, run: null })).toEqual(['**/src/test/**', '**/src/integrationTest/**'])
})

describe('composer.json', () => {
  const run = (files: Files): string | null => survey(files).testCommand

  test('[REQ-INIT-2] without a test script or a runner names no tests', () => {
    expect(run(composer({}))).toBeNull()
    expect(run(composer({ scripts: { lint: 'phpcs' } }))).toBeNull()
    expect(run(composer({ scripts: { test: [] } }))).toBeNull()
    expect(run(composer({ description: '"test": "phpunit"' }))).toBeNull()
    expect(run({ 'composer.json': '[]' })).toBeNull()
    expect(survey({ 'composer.json': '{"scripts":' })).toMatchObject({
      testCommand: null,
      problem: expect.stringMatching(/^composer\.json is not valid JSON/),
    })
  })

  test.each([
    [['@putenv APP_ENV=test', 'phpunit']],
    [['phpunit --testsuite a', 'phpunit --testsuite b']],
    ['phpunit | tee out.txt'],
    ["phpunit --filter 'One'"],
    [['@build', 'phpunit']],
    ['Carts\\Scripts::test'],
    [['@test', '@test']],
    ['php artisan test'],
  ])('[REQ-INIT-3] the script %j stays whole', (script) => {
    expect(survey(composer({ scripts: { test: script, build: 'make' }, 'require-dev': UNIT }))).toMatchObject({
      testCommand: 'composer test',
      lints: [],
      reason: 'composer.json, scripts.test',
    })
  })

  test.each([
    ['phpunit', 'vendor/bin/phpunit --log-junit phpunit-report.xml'],
    ['phpunit --colors=always', 'vendor/bin/phpunit --log-junit phpunit-report.xml --colors=always'],
    ['./vendor/bin/phpunit --log-junit out/r.xml', './vendor/bin/phpunit --log-junit out/r.xml'],
    [
      '@php -d memory_limit=-1 vendor/bin/phpunit',
      'php -d memory_limit=-1 vendor/bin/phpunit --log-junit phpunit-report.xml',
    ],
    ['XDEBUG_MODE=off pest --parallel', 'XDEBUG_MODE=off vendor/bin/pest --log-junit phpunit-report.xml --parallel'],
    [['Composer\\Config::disableProcessTimeout', '@unit'], 'vendor/bin/phpunit --log-junit phpunit-report.xml'],
  ])('[REQ-INIT-2] the script %j is run with a report', (script, command) => {
    const found = survey(composer({ scripts: { test: script, unit: 'phpunit' } }))
    expect(found.testCommand).toBe(command)
    expect(found.reportFile?.format).toBe('junit')
    expect(choosePreset(found, readAs('junit'))?.name).toBe('phaselock/php-phpunit')
  })

  test('[REQ-INIT-3] a composite test script is taken apart', () => {
    const scripts = {
      test: ['@composer validate', '@stan', 'phpcs', '@unit'],
      stan: 'phpstan analyse',
      unit: 'phpunit',
    }
    expect(survey(composer({ scripts, config: { 'bin-dir': 'bin/' } }))).toMatchObject({
      testCommand: 'bin/phpunit --log-junit phpunit-report.xml',
      lints: [
        { name: 'lint', run: 'composer validate' },
        { name: 'lint_2', run: 'bin/phpstan analyse' },
        { name: 'lint_3', run: 'bin/phpcs' },
      ],
    })
  })

  test('[REQ-INIT-2] without a script: the runner among the packages, or beside them', () => {
    const report = '--log-junit phpunit-report.xml'
    const dev = (name: string): Files => composer({ 'require-dev': { [name]: '*' } })
    expect(run(dev('phpunit/phpunit'))).toBe(`vendor/bin/phpunit ${report}`)
    expect(run({ ...dev('phpunit/phpunit'), 'tests/ATest.php': '' })).toBe(`vendor/bin/phpunit ${report} tests`)
    expect(run({ ...dev('pestphp/pest'), 'phpunit.xml': '' })).toBe(`vendor/bin/pest ${report}`)
    expect(run({ ...composer({}), 'tools/phpunit.phar': '' })).toBe(`php tools/phpunit.phar ${report}`)
    expect(run({ 'phpunit.xml.dist': '' })).toBe(`phpunit ${report}`)
  })
})

test('[REQ-INIT-2] RSpec is found in a gemspec and without bundler, and nothing is made up for Ruby', () => {
  const report = '--format progress --format json --out rspec-report.json'
  const gemspec = { Gemfile: 'gemspec\n', 'carts.gemspec': "s.add_development_dependency 'rspec', '~> 3'\n" }
  expect(survey(gemspec).testCommand).toBe(`bundle exec rspec ${report}`)
  expect(survey({ '.rspec': '' }).testCommand).toBe(`rspec ${report}`)
  expect(survey({ Gemfile: "gem 'rails'\n" }).testCommand).toBeNull()
})
