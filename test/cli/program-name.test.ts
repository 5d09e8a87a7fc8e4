import { execFileSync } from 'node:child_process'
import { expect, it } from 'vitest'
import { quoteShellWord } from '../../src/cli/program-name.js'

it('[REQ-NEWEST-9] the place of the program is printed as one word, whatever its folders are called', () => {
  for (const path of ['bin/phaselock', '/opt/phaselock-0.1/bin/phaselock', '/srv/äö/空/phaselock'])
    expect(quoteShellWord(path)).toBe(path)
  for (const path of ['/my apps/phaselock', "/it's/phaselock", '/a$(touch b)/`c`/"d"/phaselock', '/a;b/c&d', '/a\\b'])
    expect(execFileSync('sh', ['-c', `printf %s ${quoteShellWord(path)}`], { encoding: 'utf8' })).toBe(path)
})
