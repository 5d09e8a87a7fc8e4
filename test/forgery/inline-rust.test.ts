import { afterAll, beforeAll, describe, it } from 'vitest'
import type { Files } from '../e2e/projects.js'
import { FILES, FIRST, HAS_CARGO, INLINE, INLINE_TESTS, INLINE_WRONG, RUST_HOMES } from './cargo-project.js'
import { expectRefused, type Forge, openForge } from './forge.js'

let forge: Forge
beforeAll(async () => {
  forge = await openForge(RUST_HOMES)
})
afterAll(() => forge?.end())

describe.skipIf(!HAS_CARGO)('tests inside of Rust sources', () => {
  it.each<readonly [string, string, readonly RegExp[]]>([
    [
      'a weakened test is put back and named',
      `${FIRST}${INLINE_WRONG}${INLINE_TESTS.replace('5', '4')}`,
      [/src\/first\.rs \(tests inside changed or gone: tests\)/],
    ],
    [
      'a test that is gone is put back and named',
      `${FIRST}${INLINE_WRONG}`,
      [/src\/first\.rs \(tests inside changed or gone: tests\)/],
    ],
    [
      'a test that was moved is put back and named',
      `${FIRST}${INLINE_WRONG}mod gone {\n${INLINE_TESTS}\n}\n`,
      [/src\/first\.rs \(tests inside changed or gone: tests\)/],
    ],
    [
      'a test inside of a macro that drops it is put back and named',
      `macro_rules! drop_it {\n    ($($t:tt)*) => {};\n}\n${FIRST}${INLINE_WRONG}drop_it! {\n${INLINE_TESTS}\n}\n`,
      [/src\/first\.rs \(tests inside changed or gone: tests\)/],
    ],
    [
      'code that is another one when it is tested blocks',
      `${FIRST}\npub fn add(a: i32, b: i32) -> i32 {\n    if cfg!(test) { a + b } else { 4 }\n}\n${INLINE_TESTS}`,
      [/src\/first\.rs \(code that asks whether it is being tested/],
    ],
    [
      'code that is only there for tests is left out and named',
      `${FIRST}\n#[cfg(test)]\npub fn add(a: i32, b: i32) -> i32 {\n    a + b\n}\n${INLINE_TESTS}`,
      [/Left out of the run.*src\/first\.rs \(add\)/],
    ],
  ])('[REQ-VIEW-16] %s', async (_, text, patterns) => {
    const task = await forge.inImpl(INLINE)
    await task.write({ 'src/first.rs': text })
    await expectRefused(task, ...patterns)
  })

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
  ])('[REQ-VIEW-16] %s blocks', async (_, files, patterns) => {
    const task = await forge.inImpl({
      ...INLINE,
      files: { ...FILES, 'tests/a_first.rs': '#[test]\nfn holds() {\n    assert_eq!(1 + 1, 2);\n}\n' },
    })
    await task.write(files)
    await expectRefused(task, ...patterns)
  })

  it('[REQ-VIEW-16] a module of tests in its own file is held as a whole', async () => {
    const task = await forge.inImpl({
      ...INLINE,
      tests: {
        'src/first/checks.rs': '#[test]\nfn adds() {\n    assert_eq!(super::add(2, 3), 5);\n}\n',
        'src/first.rs': `${FIRST}\n#[cfg(test)]\nmod checks;\n`,
      },
    })
    await task.write({
      'src/first.rs': `${FIRST}${INLINE_WRONG}\n#[cfg(test)]\nmod checks;\n`,
      'src/first/checks.rs': '#[test]\nfn adds() {\n    assert_eq!(super::add(2, 3), 4);\n}\n',
    })
    await expectRefused(task, /src\/first\/checks\.rs/)
  })

  it('[REQ-RED-2] a failing test of another module holds no criterion', async () => {
    const task = await forge.inTdd(INLINE)
    await task.write({
      'src/first.rs': `${FIRST}${INLINE_TESTS}`,
      'src/lib.rs': 'pub mod first;\n\npub fn check(a: i32) {\n    assert!(a > 0);\n}\n',
    })
    const blockers = await task.agent.refused('IMPL', {
      test_files: { test_files: [{ path: 'src/lib.rs', covers: ['AC1'] }] },
    })
    const told = JSON.stringify(blockers)
    if (!told.includes('src/lib.rs: the run reports no test of it')) throw new Error(told)
  })
})
