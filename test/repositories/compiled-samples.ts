import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { git } from '../e2e/projects.js'
import { HAS_CARGO, RUST_HOMES } from '../forgery/cargo-project.js'
import { HAS_GO } from '../forgery/go-project.js'
import { run } from './python-packages.js'
import type { Sample } from './sample.js'

// Not below /tmp, which commands have for themselves.
const CACHE = '/var/tmp/phaselock-test'
// The compiled standard library is in the user's cache: each walk has a home of its own.
const GO_FOLDERS = {
  GOMODCACHE: join(CACHE, 'go-modules'),
  GOCACHE: join(CACHE, 'go-build'),
  XDG_CACHE_HOME: join(CACHE, 'user'),
}

const goTests = (methods: string, imports: string): string =>
  `package carts\n\nimport (\n\t"testing"\n${imports}\n\t"github.com/stretchr/testify/assert"\n)\n\n${methods}`

const GO: Sample = {
  name: 'Go with modules',
  environment: GO_FOLDERS,
  files: {
    'go.mod': 'module example.org/carts\n\ngo 1.21\n',
    'price.go': 'package carts\n\nfunc Cents(euros int) int { return euros * 100 }\n',
    'price_test.go': goTests('func TestCents(t *testing.T) {\n\tassert.Equal(t, 200, Cents(2))\n}\n', ''),
    'cmd/carts/main.go':
      'package main\n\nimport (\n\t"fmt"\n\n\t"example.org/carts"\n)\n\nfunc main() { fmt.Println(carts.Cents(1)) }\n',
  },
  install: (dir) => {
    if (!HAS_GO) return 'Go is not installed'
    for (const folder of Object.values(GO_FOLDERS)) mkdirSync(folder, { recursive: true })
    const env = { ...GO_FOLDERS, GOFLAGS: '-modcacherw' }
    const failed = run('go', ['mod', 'tidy'], dir, env) ?? run('go', ['vet', './...'], dir, env)
    if (failed !== null) return `go cannot download the modules: ${failed}`
    return commitAll(dir)
  },
  format: 'go',
  passed: 1,
  tests: {
    'sum_test.go': goTests(
      'func TestPricesAreSummedUp(t *testing.T) {\n\tassert.Equal(t, 12, Sum([]int{5, 7}))\n}\n\nfunc TestNoPricesAreNothing(t *testing.T) {\n\tif got := Sum(nil); got != 0 {\n\t\tt.Errorf("got %d, want 0", got)\n\t}\n}\n',
      '',
    ),
  },
  code: {
    'sum.go':
      'package carts\n\nfunc Sum(prices []int) int {\n\tall := 0\n\tfor _, one := range prices {\n\t\tall += one\n\t}\n\treturn all\n}\n',
  },
  old: {
    'old_test.go': goTests(
      `func TestBrokenForLong(t *testing.T) {
	assert.Equal(t, 99, Cents(1))
}

func TestSkippedForLong(t *testing.T) {
	t.Skip("later")
}

func TestFlickers(t *testing.T) {
	euros := 1
	if time.Now().UnixMicro()%3 == 0 {
		euros = 2
	}
	assert.Equal(t, 100, Cents(euros))
}
`,
      '\t"time"\n',
    ),
  },
}

function commitAll(dir: string): null {
  git(dir, 'add', '.')
  git(dir, '-c', 'user.name=t', '-c', 'user.email=t@localhost', 'commit', '--quiet', '--allow-empty', '-m', 'Lock')
  return null
}

const CARGO = '[package]\nname = "carts"\nversion = "0.1.0"\nedition = "2021"\n\n[dependencies]\nitoa = "1"\n'
const PRICE = 'pub fn cents(euros: i64) -> i64 {\n    euros * 100\n}\n'
const SUM = 'pub fn sum(prices: &[i64]) -> i64 {\n    prices.iter().sum()\n}\n'
const INLINE = `
#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_price_has_cents() {
        assert_eq!(cents(2), 200);
    }
}
`
const RUST_OLD = `use carts::cents;

#[test]
fn broken_for_long() {
    assert_eq!(cents(1), 99);
}

#[test]
#[ignore]
fn skipped_for_long() {
    assert_eq!(cents(3), 300);
}

#[test]
fn flickers() {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
    let euros = if now.as_micros() % 3 == 0 { 2 } else { 1 };
    assert_eq!(cents(euros), 100);
}
`
const withCargo = {
  environment: RUST_HOMES,
  install: (dir: string): string | null => {
    if (!HAS_CARGO) return 'cargo is not installed'
    const failed = run('cargo', ['fetch', '--quiet'], dir)
    return failed === null ? commitAll(dir) : `cargo cannot download the crates: ${failed}`
  },
  format: 'cargo',
  passed: 1,
  tests: {
    'tests/sum.rs':
      '#[test]\nfn prices_are_summed_up() {\n    assert_eq!(carts::sum(&[5, 7]), 12);\n}\n\n#[test]\nfn no_prices_are_nothing() {\n    assert_eq!(carts::sum(&[]), 0);\n}\n',
  },
  old: { 'tests/old.rs': RUST_OLD },
}

const RUST_INLINE: Sample = {
  ...withCargo,
  name: 'Rust with inline tests',
  files: { '.gitignore': 'target/\n', 'Cargo.toml': CARGO, 'src/lib.rs': `${PRICE}${INLINE}` },
  code: { 'src/lib.rs': `${PRICE}\n${SUM}${INLINE}` },
}

const RUST_TESTS: Sample = {
  ...withCargo,
  name: 'Rust with tests/',
  files: {
    '.gitignore': 'target/\n',
    'Cargo.toml': CARGO,
    'src/lib.rs': PRICE,
    'tests/price.rs': '#[test]\nfn a_price_has_cents() {\n    assert_eq!(carts::cents(2), 200);\n}\n',
  },
  code: { 'src/lib.rs': `${PRICE}\n${SUM}` },
}

export const COMPILED: readonly Sample[] = [GO, RUST_INLINE, RUST_TESTS]
