import { expect, test } from 'vitest'
import { formatProblem } from '../../src/cli/terminal/problem-text.js'

test('[REQ-CONTRACT-22] errors of a contract that a server refused name file, place, field and remedy', () => {
  const about = { severity: 'error', code: 'contract.unknown_key', remedy: 'Did you mean allowed_tools?' }
  const place = { file: 'contract', line: 5, column: 5, path: 'phases[0].allowed_toolz' }
  const text = formatProblem({
    detail: 'The contract has 1 error.',
    code: 'contract.invalid',
    errors: [{ ...about, ...place, message: 'Not known.' }],
  })
  expect(text.split('\n')).toEqual([
    'The contract has 1 error. [contract.invalid]',
    '  contract:5:5: error contract.unknown_key: phases[0].allowed_toolz: Not known.',
    '      Did you mean allowed_tools?',
  ])
})
