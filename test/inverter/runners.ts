import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { COMMONJS_SUITE, NODE_SUITE, VITEST_SUITE } from './javascript-fixtures.js'
import { GO_SUITE, PYTEST_SUITE, RUST_SUITE, UNITTEST_SUITE } from './other-fixtures.js'
import type { Runner } from './run-suite.js'

export const OWN_PACKAGES = join(import.meta.dirname, '../../node_modules')

export function has(program: string, ...args: readonly string[]): boolean {
  return spawnSync(program, args).status === 0
}

export const GO_FILES: Readonly<Record<string, string>> = {
  'go.mod': 'module example.com/add\n\ngo 1.22\n',
  'add.go': `package add

import "errors"

func Add(a, b int) int { return a + b }
func Name() string     { return "add" }
func Div(a, b int) (int, error) {
	if b == 0 {
		return 0, errors.New("division by zero")
	}
	return a / b, nil
}
func Diff(a, b int) string {
	if a == b {
		return ""
	}
	return "different"
}
`,
}

const RUST_FILES: Readonly<Record<string, string>> = {
  'Cargo.toml': '[package]\nname = "add"\nversion = "0.1.0"\nedition = "2021"\n',
  'src/lib.rs': `#[derive(Debug, PartialEq)]
pub struct Point { pub x: i32, pub y: u8 }
pub fn add(a: i32, b: i32) -> i32 { a + b }
pub fn checked(a: i32) -> Result<i32, String> {
    if a > 5 { return Err("large".to_string()); }
    Ok(a)
}
`,
}

const NODE_ARGS: readonly string[] = ['node', '--test', '--test-reporter=tap']
export const NODE: Runner = { suite: NODE_SUITE, argv: [...NODE_ARGS, NODE_SUITE.path], format: 'node' }
export const COMMONJS: Runner = { suite: COMMONJS_SUITE, argv: [...NODE_ARGS, COMMONJS_SUITE.path], format: 'node' }
export const VITEST: Runner = {
  ...{ suite: VITEST_SUITE, format: 'vitest', packages: OWN_PACKAGES, files: { 'package.json': '{"type":"module"}' } },
  argv: ['node', 'node_modules/vitest/vitest.mjs', 'run', '--reporter=json', '--no-color'],
}
export const PYTEST: Runner = {
  ...{ suite: PYTEST_SUITE, format: 'pytest' },
  argv: ['python3', '-m', 'pytest', '-v', '--no-header', '-p', 'no:cacheprovider', PYTEST_SUITE.path],
}
export const UNITTEST: Runner = {
  ...{ suite: UNITTEST_SUITE, format: 'pytest' },
  argv: ['python3', '-m', 'unittest', '-v', 'test_suite'],
}
export const GO: Runner = {
  ...{ suite: GO_SUITE, format: 'go', files: GO_FILES },
  argv: ['go', 'test', '-json', './...'],
}
export const RUST: Runner = {
  ...{ suite: RUST_SUITE, format: 'cargo', files: RUST_FILES },
  argv: ['cargo', 'test', '--offline', '--test', 'suite'],
}
