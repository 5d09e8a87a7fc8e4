import { afterAll, beforeAll, describe, it } from 'vitest'
import type { Files } from '../e2e/projects.js'
import { FILES, HAS_CARGO, RUST_HOMES } from './cargo-project.js'
import { expectRefused, type Forge, openForge, type Project } from './forge.js'

let forge: Forge
beforeAll(async () => {
  forge = await openForge(RUST_HOMES)
}, 60_000)
afterAll(() => forge?.end())

const FIRST = FILES['src/first.rs'] ?? ''
const TESTS = `
#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn adds() {
        assert_eq!(add(2, 3), 5);
    }
}
`
const ADD = '\npub fn add(a: i32, b: i32) -> i32 {\n    a + b\n}\n'
const WRONG = '\npub fn add(_: i32, _: i32) -> i32 {\n    4\n}\n'
// Of the bundled contract only tests can be written in TDD; this one lets sources be written too.
const contract = (text: string): string =>
  text.replace('["tests/**", "test/**", "**/*.test', '["src/**", "tests/**", "test/**", "**/*.test')
const INLINE: Project = { files: FILES, run: 'cargo test', tests: { 'src/first.rs': `${FIRST}${TESTS}` }, contract }

describe.skipIf(!HAS_CARGO)('tests inside of Rust sources', () => {
  it('[REQ-VIEW-14] code around them is free, and an honest implementation completes', async () => {
    const task = await forge.inImpl(INLINE)
    await task.write({ 'src/first.rs': `// Sums.\n${FIRST.replace('1', '2 - 1')}${ADD}${TESTS}` })
    await task.completes()
    await task.agent.finish('sums up')
  }, 300_000)

  it.each<readonly [string, string, readonly RegExp[]]>([
    [
      'a weakened test is put back and named',
      `${FIRST}${WRONG}${TESTS.replace('5', '4')}`,
      [/src\/first\.rs \(tests inside changed or gone: tests\)/],
    ],
    [
      'a test that is gone is put back and named',
      `${FIRST}${WRONG}`,
      [/src\/first\.rs \(tests inside changed or gone: tests\)/],
    ],
    [
      'a test that was moved is put back and named',
      `${FIRST}${WRONG}mod gone {\n${TESTS}\n}\n`,
      [/src\/first\.rs \(tests inside changed or gone: tests\)/],
    ],
    [
      'a test inside of a macro that drops it is put back and named',
      `macro_rules! drop_it {\n    ($($t:tt)*) => {};\n}\n${FIRST}${WRONG}drop_it! {\n${TESTS}\n}\n`,
      [/src\/first\.rs \(tests inside changed or gone: tests\)/],
    ],
    [
      'code that is another one when it is tested blocks',
      `${FIRST}\npub fn add(a: i32, b: i32) -> i32 {\n    if cfg!(test) { a + b } else { 4 }\n}\n${TESTS}`,
      [/src\/first\.rs \(code that asks whether it is being tested/],
    ],
    [
      'code that is only there for tests is left out and named',
      `${FIRST}\n#[cfg(test)]\npub fn add(a: i32, b: i32) -> i32 {\n    a + b\n}\n${TESTS}`,
      [/Left out of the run.*src\/first\.rs \(add\)/],
    ],
  ])(
    '[REQ-VIEW-14] %s',
    async (_, text, patterns) => {
      const task = await forge.inImpl(INLINE)
      await task.write({ 'src/first.rs': text })
      await expectRefused(task, ...patterns)
    },
    300_000,
  )

  it.each<readonly [string, Files, readonly RegExp[]]>([
    [
      'a file of tests that is gone',
      { 'src/lib.rs': 'pub mod first;\n', 'src/first.rs': 'pub use crate::second::first;\n' },
      [/src\/first\.rs/],
    ],
    [
      'a module that is not compiled any more',
      { 'src/lib.rs': '#[cfg(not(test))]\npub mod first;\n' },
      [/src\/lib\.rs|src\/first\.rs/],
    ],
    [
      'a module behind a feature',
      { 'src/lib.rs': '#[cfg(unix)]\n#[cfg(windows)]\npub mod first;\npub mod other;\n', 'src/other.rs': FIRST },
      [/did not run/],
    ],
  ])(
    '[REQ-VIEW-14] %s blocks',
    async (_, files, patterns) => {
      const task = await forge.inImpl({
        ...INLINE,
        files: { ...FILES, 'tests/a_first.rs': '#[test]\nfn holds() {\n    assert_eq!(1 + 1, 2);\n}\n' },
      })
      await task.write(files)
      await expectRefused(task, ...patterns)
    },
    300_000,
  )

  it('[REQ-VIEW-14] a module of tests in a file of its own is held as a whole', async () => {
    const task = await forge.inImpl({
      ...INLINE,
      tests: {
        'src/first/checks.rs': '#[test]\nfn adds() {\n    assert_eq!(super::add(2, 3), 5);\n}\n',
        'src/first.rs': `${FIRST}\n#[cfg(test)]\nmod checks;\n`,
      },
    })
    await task.write({
      'src/first.rs': `${FIRST}${WRONG}\n#[cfg(test)]\nmod checks;\n`,
      'src/first/checks.rs': '#[test]\nfn adds() {\n    assert_eq!(super::add(2, 3), 4);\n}\n',
    })
    await expectRefused(task, /src\/first\/checks\.rs/)
  }, 300_000)

  it('[REQ-RED-2] a failing test of another module holds no criterion', async () => {
    const task = await forge.inTdd(INLINE)
    await task.write({
      'src/first.rs': `${FIRST}${TESTS}`,
      'src/lib.rs': 'pub mod first;\n\npub fn check(a: i32) {\n    assert!(a > 0);\n}\n',
    })
    const blockers = await task.agent.refused('IMPL', {
      test_files: { test_files: [{ path: 'src/lib.rs', covers: ['AC1'] }] },
    })
    const told = JSON.stringify(blockers)
    if (!told.includes('src/lib.rs: the run reports no test of it')) throw new Error(told)
  }, 300_000)
})
