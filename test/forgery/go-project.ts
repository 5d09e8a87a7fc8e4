import { spawnSync } from 'node:child_process'
import type { Files } from '../e2e/projects.js'
import type { Project } from './forge.js'

/** Whether this machine has Go. */
export const HAS_GO = spawnSync('go', ['version']).status === 0

export const FILES: Files = {
  '.gitignore': '/build/\n',
  'go.mod': 'module example.org/adder\n\ngo 1.20\n',
  'first.go': 'package adder\n\nfunc First() int { return 1 }\n',
  'a_test.go': `package adder

import "testing"

func TestFirst(t *testing.T) {
	if First() != 1 {
		t.Errorf("got %d, want 1", First())
	}
}
`,
  'internal/testutil/equal.go': `package testutil

import "testing"

func Equal(t *testing.T, got, want int) {
	t.Helper()
	if got != want {
		t.Errorf("got %d, want %d", got, want)
	}
}
`,
}
export const TESTS: Files = {
  'z_test.go': `package adder

import (
	"os"
	"strconv"
	"strings"
	"testing"

	"example.org/adder/internal/testutil"
)

func TestAdds(t *testing.T) {
	sum := Add(2, 3)
	text, _ := os.ReadFile("testdata/sum_test.txt")
	want, _ := strconv.Atoi(strings.TrimSpace(string(text)))
	testutil.Equal(t, sum, want)
	if Add(1, 1) != 2 {
		t.Errorf("got %d, want 2", Add(1, 1))
	}
}
`,
  'testdata/sum_test.txt': '5\n',
}
export const GO: Project = { files: FILES, run: 'go test -v ./...', tests: TESTS }

export const HONEST: Files = { 'add.go': 'package adder\n\nfunc Add(a, b int) int { return a + b }\n' }
export const WRONG: Files = { 'add.go': 'package adder\n\nfunc Add(a, b int) int { return 4 }\n' }
/** An `Add` that does something first, and gives what the tests do not want. */
export const adding = (imports: string, statement: string): Files => ({
  'add.go': `package adder\n\nimport ${JSON.stringify(imports)}\n\nfunc Add(a, b int) int {\n\t${statement}\n\treturn 4\n}\n`,
})
