import { readdirSync } from 'node:fs'
import type { Command } from 'commander'
import { expect, test } from 'vitest'
import { buildProgram } from '../../src/cli/program.js'
import { ROOT, readDoc } from './blocks.js'

const FILES = [
  'README.md',
  ...readdirSync(`${ROOT}docs`, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md') && !name.startsWith('decisions/'))
    .map((name) => `docs/${name}`),
]

/** Calls of the program in blocks for a shell and in code within a sentence, each as its words. */
function callsIn(text: string): readonly (readonly string[])[] {
  const blocks = [...text.matchAll(/```(?:sh|bash)[^\n]*\n([\s\S]*?)```/g)].map(([, body = '']) => body)
  const inline = [...text.replaceAll(/```[\s\S]*?```/g, '').matchAll(/`([^`\n]+)`/g)].map(([, code = '']) => code)
  const lines = [...blocks.flatMap((body) => body.replaceAll(/\\\n\s*/g, ' ').split('\n')), ...inline]
  const call = /^(?:\$ )?(?:[A-Z_]+=\S+ )*(?:bin\/)?phaselock ([a-z].*)$/
  return lines.flatMap((line) => {
    const [, words] = call.exec(line.replace(/\s{2,}#.*$/, '').trim()) ?? []
    return words === undefined ? [] : [words.split(/\s+-- .*$| [|>&;]/)[0]?.split(/\s+/) ?? []]
  })
}

/** What is wrong with a call; null when the command and its long options exist. */
function findWrong(program: Command, words: readonly string[]): string | null {
  let command = program
  for (const word of words) {
    const next = command.commands.find((one) => one.name() === word || one.aliases().includes(word))
    if (next === undefined) break
    command = next
  }
  if (command === program) return `no command ${words[0]}`
  const known = new Set([...command.options.map(({ long }) => long), '--help', '--json'])
  const unknown = words.filter((word) => /^--[a-z]/.test(word)).map((word) => word.replace(/[=,.`)\]].*$/, ''))
  const lost = unknown.filter((option) => !known.has(option))
  return lost.length === 0 ? null : `${words.join(' ')}: no option ${lost.join(', ')}`
}

test('[REQ-DOCS-1] a call of an unknown command or option is found', () => {
  const program = buildProgram()
  expect(findWrong(program, ['aprove'])).toBe('no command aprove')
  expect(findWrong(program, ['audit', 'verify', '--fast'])).toContain('no option --fast')
  expect(findWrong(program, ['task', 'add', '"x"', '--worktree'])).toBeNull()
})

test.each(FILES)('[REQ-DOCS-1] every command and option that %s names exists', (file) => {
  const program = buildProgram()
  expect(
    callsIn(readDoc(file))
      .map((words) => findWrong(program, words))
      .filter((wrong) => wrong !== null),
  ).toEqual([])
})
