import { existsSync } from 'node:fs'
import { run } from './python-packages.js'
import type { Sample } from './sample.js'

/** Where Debian keeps the packages of Maven, which its Gradle reads without network. */
const PACKAGES = '/usr/share/maven-repo'
const BUILD = `apply plugin: 'java'

repositories {
    maven { url 'file://${PACKAGES}' }
}

dependencies {
    testCompile 'junit:junit:4.x'
}
`
const JUNIT =
  'package carts;\n\nimport static org.junit.Assert.assertEquals;\n\nimport org.junit.Ignore;\nimport org.junit.Test;\n\n'
const javaTest = (name: string, body: string, mark = ''): string =>
  `    @Test${mark}\n    public void ${name}() {\n        ${body}\n    }\n`
const javaClass = (name: string, ...tests: readonly string[]): string =>
  `${JUNIT}public class ${name} {\n${tests.join('\n')}}\n`

/** With JUnit 4: the Gradle of Debian is 4.4, which cannot run JUnit 5. */
export const GRADLE: Sample = {
  name: 'Gradle with JUnit 4',
  files: {
    '.gitignore': 'build/\n.gradle/\n',
    'build.gradle': BUILD,
    'settings.gradle': "rootProject.name = 'carts'\n",
    'src/main/java/carts/Price.java':
      'package carts;\n\npublic final class Price {\n    public static int cents(int euros) {\n        return euros * 100;\n    }\n}\n',
    'src/test/java/carts/PriceTest.java': javaClass(
      'PriceTest',
      javaTest('aPriceHasCents', 'assertEquals(200, Price.cents(2));'),
    ),
  },
  install: (dir) => {
    if (!existsSync(`${PACKAGES}/junit/junit/4.x`)) return 'Gradle and JUnit 4 of Debian are not installed'
    const failed = run('gradle', ['--version'], dir)
    return failed === null ? null : `Gradle does not run here: ${failed}`
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
      javaTest('skippedForLong', 'assertEquals(300, Price.cents(3));', '\n    @Ignore("later")'),
      javaTest('flickers', 'assertEquals(100, Price.cents(System.nanoTime() / 1000 % 3 == 0 ? 2 : 1));'),
    ),
  },
}
