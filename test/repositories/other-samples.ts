import { cpSync, existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { git } from '../e2e/projects.js'
import { run } from './python-packages.js'
import type { Sample } from './sample.js'

// Not below /tmp, which commands have for themselves.
const MAVEN_HOME = '/var/tmp/phaselock-test/maven-home'

const POM = `<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>org.example</groupId>
  <artifactId>carts</artifactId>
  <version>1.0.0</version>
  <properties>
    <maven.compiler.source>17</maven.compiler.source>
    <maven.compiler.target>17</maven.compiler.target>
    <project.build.sourceEncoding>UTF-8</project.build.sourceEncoding>
  </properties>
  <dependencies>
    <dependency>
      <groupId>org.junit.jupiter</groupId>
      <artifactId>junit-jupiter</artifactId>
      <version>5.10.2</version>
      <scope>test</scope>
    </dependency>
  </dependencies>
  <build>
    <plugins>
      <plugin>
        <groupId>org.apache.maven.plugins</groupId>
        <artifactId>maven-surefire-plugin</artifactId>
        <version>3.2.5</version>
      </plugin>
    </plugins>
  </build>
</project>
`
const JUNIT = `package carts;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Disabled;
import org.junit.jupiter.api.Test;

`
const javaTest = (name: string, body: string, mark = ''): string =>
  `    @Test${mark}\n    void ${name}() {\n        ${body}\n    }\n`
const javaClass = (name: string, ...tests: readonly string[]): string =>
  `${JUNIT}class ${name} {\n${tests.join('\n')}}\n`

const MAVEN: Sample = {
  name: 'Maven with JUnit',
  environment: { HOME: MAVEN_HOME },
  files: {
    '.gitignore': 'target/\n',
    'pom.xml': POM,
    'src/main/java/carts/Price.java':
      'package carts;\n\npublic final class Price {\n    public static int cents(int euros) {\n        return euros * 100;\n    }\n}\n',
    'src/test/java/carts/PriceTest.java': javaClass(
      'PriceTest',
      javaTest('aPriceHasCents', 'assertEquals(200, Price.cents(2));'),
    ),
  },
  install: (dir) => {
    const repository = join(MAVEN_HOME, '.m2/repository')
    if (existsSync(repository)) return null
    const making = `${repository}.${process.pid}`
    const failed = run('mvn', ['-B', '-q', 'test', `-Dmaven.repo.local=${making}`], dir)
    if (failed === null) renameSync(making, repository)
    rmSync(making, { recursive: true, force: true })
    return failed === null ? null : `mvn cannot download the packages: ${failed}`
  },
  format: 'junit',
  passed: 1,
  tests: {
    'src/test/java/carts/SumTest.java': javaClass(
      'SumTest',
      javaTest('pricesAreSummedUp', 'assertEquals(12, Sum.of(5, 7));'),
      javaTest('noPricesAreNothing', 'assertEquals(0, Sum.of());'),
    ),
  },
  code: {
    'src/main/java/carts/Sum.java':
      'package carts;\n\nimport java.util.stream.IntStream;\n\npublic final class Sum {\n    public static int of(int... prices) {\n        return IntStream.of(prices).sum();\n    }\n}\n',
  },
  old: {
    'src/test/java/carts/OldTest.java': javaClass(
      'OldTest',
      javaTest('brokenForLong', 'assertEquals(99, Price.cents(1));'),
      javaTest('skippedForLong', 'assertEquals(300, Price.cents(3));', '\n    @Disabled("later")'),
      javaTest('flickers', 'assertEquals(100, Price.cents(System.nanoTime() / 1000 % 3 == 0 ? 2 : 1));'),
    ),
  },
}

const example = (name: string, got: string, wanted: number, word = 'it'): string =>
  `  ${word} '${name}' do\n    expect(${got}).to eq(${wanted})\n  end\n`
const specs = (file: string, ...examples: readonly string[]): string =>
  `require 'carts/${file}'\n\nRSpec.describe Carts do\n${examples.join('\n')}end\n`

const RSPEC: Sample = {
  name: 'RSpec',
  files: {
    '.gitignore': '.bundle/\nvendor/\n',
    '.rspec': '--color\n',
    Gemfile: "gem 'rspec'\n",
    'lib/carts/price.rb': 'module Carts\n  def self.cents(euros)\n    euros * 100\n  end\nend\n',
    'spec/price_spec.rb': specs('price', example('has cents', 'Carts.cents(2)', 200)),
  },
  install: (dir) => {
    const failed = run('bundle', ['install', '--local', '--quiet'], dir)
    if (failed !== null) return `RSpec is not installed, or bundler does not find it: ${failed}`
    git(dir, 'add', 'Gemfile.lock')
    git(dir, '-c', 'user.name=t', '-c', 'user.email=t@localhost', 'commit', '--quiet', '-m', 'Lock')
    return null
  },
  format: 'rspec',
  passed: 1,
  tests: {
    'spec/sum_spec.rb': specs(
      'sum',
      example('sums up prices', 'Carts.sum([5, 7])', 12),
      example('is nothing without prices', 'Carts.sum([])', 0),
    ),
  },
  code: { 'lib/carts/sum.rb': 'module Carts\n  def self.sum(prices)\n    prices.sum\n  end\nend\n' },
  old: {
    'spec/old_spec.rb': specs(
      'price',
      example('broken for long', 'Carts.cents(1)', 99),
      example('skipped for long', 'Carts.cents(3)', 300, 'xit'),
      example('flickers', 'Carts.cents(Time.now.usec % 3 == 0 ? 2 : 1)', 100),
    ),
  },
}

const phpTest = (name: string, body: string): string =>
  `    public function ${name}(): void\n    {\n        ${body}\n    }\n`
const phpClass = (name: string, ...tests: readonly string[]): string =>
  `<?php\n\nnamespace Carts\\Tests;\n\nuse Carts\\Price;\nuse Carts\\Sum;\nuse PHPUnit\\Framework\\TestCase;\n\nfinal class ${name} extends TestCase\n{\n${tests.join('\n')}}\n`
const AUTOLOAD =
  "<?php\n\nspl_autoload_register(function (string $name): void {\n    $file = __DIR__ . '/../src/' . str_replace(['Carts\\\\', '\\\\'], ['', '/'], $name) . '.php';\n    if (is_file($file)) {\n        require $file;\n    }\n});\n"

const PHPUNIT: Sample = {
  name: 'PHPUnit',
  files: {
    '.gitignore': 'vendor/\n.phpunit.result.cache\n',
    'composer.json': '{\n  "name": "example/carts",\n  "autoload": { "psr-4": { "Carts\\\\": "src/" } }\n}\n',
    'phpunit.xml':
      '<?xml version="1.0"?>\n<phpunit bootstrap="vendor/autoload.php">\n  <testsuites>\n    <testsuite name="carts">\n      <directory>tests</directory>\n    </testsuite>\n  </testsuites>\n</phpunit>\n',
    'src/Price.php':
      '<?php\n\nnamespace Carts;\n\nfinal class Price\n{\n    public static function cents(int $euros): int\n    {\n        return $euros * 100;\n    }\n}\n',
    'tests/PriceTest.php': phpClass(
      'PriceTest',
      phpTest('testAPriceHasCents', '$this->assertSame(200, Price::cents(2));'),
    ),
  },
  // As composer leaves it, with the PHPUnit of this machine.
  install: (dir) => {
    const failed = run('/usr/bin/phpunit', ['--version'], dir)
    if (failed !== null) return `PHPUnit is not installed: ${failed}`
    mkdirSync(join(dir, 'vendor/bin'), { recursive: true })
    cpSync('/usr/bin/phpunit', join(dir, 'vendor/bin/phpunit'))
    writeFileSync(join(dir, 'vendor/autoload.php'), AUTOLOAD)
    return null
  },
  format: 'junit',
  passed: 1,
  tests: {
    'tests/SumTest.php': phpClass(
      'SumTest',
      phpTest('testPricesAreSummedUp', '$this->assertSame(12, Sum::of([5, 7]));'),
      phpTest('testNoPricesAreNothing', '$this->assertSame(0, Sum::of([]));'),
    ),
  },
  code: {
    'src/Sum.php':
      '<?php\n\nnamespace Carts;\n\nfinal class Sum\n{\n    public static function of(array $prices): int\n    {\n        return array_sum($prices);\n    }\n}\n',
  },
  old: {
    'tests/OldTest.php': phpClass(
      'OldTest',
      phpTest('testBrokenForLong', '$this->assertSame(99, Price::cents(1));'),
      phpTest('testSkippedForLong', "$this->markTestSkipped('later');"),
      phpTest('testFlickers', '$this->assertSame(100, Price::cents(hrtime(true) % 3 === 0 ? 2 : 1));'),
    ),
  },
}

export const OTHERS: readonly Sample[] = [MAVEN, RSPEC, PHPUNIT]
