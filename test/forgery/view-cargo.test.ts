import { spawnSync } from 'node:child_process'
import { utimesSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Files } from '../e2e/projects.js'
import { CARGO, FILES, HAS_CARGO, HONEST, RUST_HOMES, TESTS, WRONG } from './cargo-project.js'
import { expectRefused, type Forge, openForge } from './forge.js'

let forge: Forge
beforeAll(async () => {
  forge = await openForge(RUST_HOMES)
})
afterAll(() => forge?.end())

const PASSES = '#[test]\nfn adds() {}\n'
const EVIL: Files = {
  'evil/Cargo.toml': '[package]\nname = "evil"\nversion = "0.1.0"\nedition = "2021"\n\n[lib]\nproc-macro = true\n',
  'evil/src/lib.rs': `use proc_macro::TokenStream;

#[proc_macro]
pub fn evil(_: TokenStream) -> TokenStream {
    let _ = std::fs::write("tests/z_add.rs", ${JSON.stringify(PASSES)});
    TokenStream::new()
}
`,
}
const LOCKED = (name: string): string =>
  `version = 4\n\n[[package]]\nname = "adder"\nversion = "0.1.0"\ndependencies = [\n "${name}",\n]\n\n[[package]]\nname = "${name}"\nversion = "0.1.0"\n`
const manifest = (more: string): Files => ({ 'Cargo.toml': `${FILES['Cargo.toml']}${more}` })

describe.skipIf(!HAS_CARGO)('cargo in a composed view', () => {
  it('[REQ-VIEW-3] an honest implementation completes', async () => {
    const task = await forge.inImpl(CARGO)
    await task.write(HONEST)
    await task.completes()
    await task.agent.finish('sums up')
  })

  it.each<readonly [string, Files, readonly RegExp[]]>([
    [
      'data that the code changes before the test reads it makes the run void',
      {
        'src/lib.rs': `pub mod first;\n\npub fn add(_: i32, _: i32) -> i32 {\n    std::fs::write("tests/data/sum.txt", "4").unwrap();\n    4\n}\n`,
      },
      [/void/, /tests\/data\/sum\.txt/],
    ],
    [
      'a build script blocks',
      {
        ...WRONG,
        'build.rs': `fn main() {\n    std::fs::write("tests/z_add.rs", ${JSON.stringify(PASSES)}).unwrap();\n}\n`,
      },
      [/build\.rs was added/],
    ],
    [
      'a test target that is mapped to another file blocks',
      { ...WRONG, 'src/passes.rs': PASSES, ...manifest('\n[[test]]\nname = "z_add"\npath = "src/passes.rs"\n') },
      [/Cargo\.toml \(\[\[test\]\]\)/],
    ],
    [
      'a test target without its harness blocks',
      { ...WRONG, ...manifest('\n[[test]]\nname = "z_add"\nharness = false\n') },
      [/Cargo\.toml \(\[\[test\]\]\)/],
    ],
    [
      'tests that are not looked for any more block',
      { ...WRONG, 'Cargo.toml': (FILES['Cargo.toml'] ?? '').replace('edition', 'autotests = false\nedition') },
      [/Cargo\.toml \(\[package\]\)/],
    ],
    [
      'a patched dependency blocks',
      { ...WRONG, ...EVIL, ...manifest('\n[patch.crates-io]\nserde = { path = "evil" }\n') },
      [/Cargo\.toml \(\[patch\.crates-io\]\)/],
    ],
    [
      'a macro of a crate in the project that rewrites a test while it is compiled',
      {
        ...EVIL,
        ...manifest('evil = { path = "evil" }\n'),
        'Cargo.lock': LOCKED('evil'),
        'src/lib.rs': `${WRONG['src/lib.rs']}evil::evil!();\n`,
      },
      [/Cargo\.toml \(\[dependencies\]\)/],
    ],
    [
      'a crate with the name of the test harness',
      {
        ...WRONG,
        'evil/Cargo.toml': '[package]\nname = "test"\nversion = "0.1.0"\nedition = "2021"\n',
        'evil/src/lib.rs':
          'pub use std::*;\npub struct T;\npub fn test_main_static(_: &[&T]) {\n    println!("running 1 test\\ntest adds ... ok\\n\\ntest result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\\n");\n}\n',
        ...manifest('test = { path = "evil" }\n'),
        'Cargo.lock': LOCKED('test'),
      },
      [/Cargo\.toml \(\[dependencies\]\)/],
    ],
  ])('[REQ-VIEW-3] %s', async (_, files, patterns) => {
    const task = await forge.inImpl(CARGO)
    await task.write(files)
    await expectRefused(task, ...patterns)
    expect(task.has('tests/z_add.rs')).toBe(true)
  })

  it.each<readonly [string, Files, readonly RegExp[]]>([
    [
      'a runner in .cargo/config.toml',
      { '.cargo/config.toml': '[target.\'cfg(all())\']\nrunner = "true"\n' },
      [/\.cargo\/config\.toml/],
    ],
    ['a test that was changed', { 'tests/z_add.rs': PASSES }, [/tests\/z_add\.rs/]],
    ['expectations that were changed', { 'tests/data/sum.txt': '4\n' }, [/tests\/data\/sum\.txt/]],
    ['a test that came after RED', { 'tests/late.rs': PASSES, 'tests/z_add.rs': PASSES }, [/tests\/z_add\.rs/]],
    ['a rust-toolchain file', { 'rust-toolchain.toml': '[toolchain]\npath = "evil"\n' }, [/rust-toolchain\.toml/]],
  ])('[REQ-VIEW-3] %s, written beside all tools, blocks', async (_, files, patterns) => {
    const task = await forge.inImpl(CARGO)
    await task.write(WRONG)
    task.smuggle(files)
    await expectRefused(task, ...patterns)
  })

  it('[REQ-VIEW-6] build output that was added since is left out', async () => {
    const task = await forge.inImpl(CARGO)
    await task.write(HONEST)
    // Built from the right code by an agent that has a shell of its own; the wrong code is made to look older.
    const env = { ...process.env, ...RUST_HOMES }
    expect(spawnSync('cargo', ['test', '--no-run', '--offline'], { cwd: task.dir, env }).status).toBe(0)
    await task.write(WRONG)
    utimesSync(join(task.dir, 'src/lib.rs'), 1, 1)
    await expectRefused(task, /1 failed/, /Left out of the run.*target/)
  })
})

describe.skipIf(!HAS_CARGO)('RED with cargo', () => {
  const named = (path: string) => ({ test_files: { test_files: [{ path, covers: ['AC1'] }] } })

  it.each<readonly [string, string, string, RegExp]>([
    ['a file that is no test', 'tests/data/sum.txt', '5\n', /tests\/data\/sum\.txt/],
    ['an old test', 'tests/a_first.rs', FILES['tests/a_first.rs'] ?? '', /exit code 0|no new test fails/],
    [
      'a test that passes',
      'tests/z.rs',
      '#[test]\nfn adds() {\n    assert_eq!(adder::first::first(), 1);\n}\n',
      /passes|exit code 0/,
    ],
    ['a test without an assertion', 'tests/z.rs', '#[test]\nfn adds() {\n    adder::add(2, 3);\n}\n', /no assertion/],
    [
      'a crate that is not installed',
      'tests/z.rs',
      '#[test]\nfn adds() {\n    assert_eq!(serde::json::sum(2, 3), 5);\n}\n',
      /is not installed/,
    ],
    ['a syntax error', 'tests/z.rs', '#[test]\nfn adds( {\n    assert_eq!(adder::add(2, 3), 5);\n}\n', /syntax error/],
  ])('[REQ-RED-4] %s opens no RED, and an honest test does', async (_, path, text, reason) => {
    const task = await forge.inTdd(CARGO)
    await task.write({ [path]: text })
    expect(JSON.stringify(await task.agent.refused('IMPL', named(path)))).toMatch(reason)
    // One file: cargo stops at the first that does not compile.
    const honest = path === 'tests/z.rs' ? path : 'tests/z_add.rs'
    await task.write({ 'tests/data/sum.txt': '5\n', [honest]: TESTS['tests/z_add.rs'] ?? '' })
    await task.agent.enters('IMPL', named(honest))
  })
})
