import { spawnSync } from 'node:child_process'
import { homedir } from 'node:os'
import { join } from 'node:path'
import type { Files } from '../e2e/projects.js'
import type { Project } from './forge.js'

/** Whether this machine has cargo. */
export const HAS_CARGO = spawnSync('cargo', ['--version']).status === 0

/** Where the server finds it, whose home is another one. */
export const RUST_HOMES = {
  CARGO_HOME: process.env.CARGO_HOME ?? join(homedir(), '.cargo'),
  RUSTUP_HOME: process.env.RUSTUP_HOME ?? join(homedir(), '.rustup'),
}

const MANIFEST = '[package]\nname = "adder"\nversion = "0.1.0"\nedition = "2021"\n'
export const FILES: Files = {
  '.gitignore': 'target/\n',
  'Cargo.toml': `${MANIFEST}\n[dependencies]\n`,
  'Cargo.lock': 'version = 4\n\n[[package]]\nname = "adder"\nversion = "0.1.0"\n',
  'src/lib.rs': 'pub mod first;\n',
  'src/first.rs': 'pub fn first() -> i32 {\n    1\n}\n',
  'tests/a_first.rs': '#[test]\nfn first_is_one() {\n    assert_eq!(adder::first::first(), 1);\n}\n',
}
export const TESTS: Files = {
  'tests/z_add.rs': `#[test]
fn adds() {
    let sum = adder::add(2, 3);
    let expected: i32 = std::fs::read_to_string("tests/data/sum.txt").unwrap().trim().parse().unwrap();
    assert_eq!(sum, expected);
}
`,
  'tests/data/sum.txt': '5\n',
}
export const CARGO: Project = { files: FILES, run: 'cargo test', tests: TESTS }

const SUM = 'pub fn add(a: i32, b: i32) -> i32 {\n    a + b\n}\n'
export const HONEST: Files = { 'src/lib.rs': `pub mod first;\n\n${SUM}` }
export const WRONG: Files = { 'src/lib.rs': 'pub mod first;\n\npub fn add(_: i32, _: i32) -> i32 {\n    4\n}\n' }

/** Tests beside the code, in a contract that lets TDD write sources. */
export const FIRST = FILES['src/first.rs'] ?? ''
export const INLINE_TESTS = `
#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn adds() {
        assert_eq!(add(2, 3), 5);
    }
}
`
export const INLINE_ADD = '\npub fn add(a: i32, b: i32) -> i32 {\n    a + b\n}\n'
export const INLINE_WRONG = '\npub fn add(_: i32, _: i32) -> i32 {\n    4\n}\n'
// Of the bundled contract only tests can be written in TDD; this one lets sources be written too.
export const contract = (text: string): string =>
  text.replace('allowed_patterns: ["@tests"]', 'allowed_patterns: ["src/**", "@tests"]')
export const INLINE: Project = {
  files: FILES,
  run: 'cargo test',
  tests: { 'src/first.rs': `${FIRST}${INLINE_TESTS}` },
  contract,
}
