import { expect, test } from 'vitest'
import { jsonDifference, textDifference } from './expected.js'

const same: readonly [string, unknown, unknown][] = [
  ['the same values', { a: 1, b: [true, null] }, { a: 1, b: [true, null] }],
  ['any value', { a: '…' }, { a: { b: 1 } }],
  ['any part of a text', { a: 'task-… is done' }, { a: 'task-12 is done' }],
  ['fields that are not shown', { a: 1, '…': '…' }, { a: 1, b: 2 }],
  ['elements that are not shown', [1, '…'], [1, 2, 3]],
]
test.each(same)('%s are no difference', (_, shown, real) => expect(jsonDifference(shown, real)).toBeNull())

const other: readonly [string, unknown, unknown][] = [
  ['another value', { a: 1 }, { a: 2 }],
  ['another text around …', { a: 'task-… is done' }, { a: 'task-12 is not done!' }],
  ['a field that is not shown', { a: 1 }, { a: 1, b: 2 }],
  ['a field that is not there', { a: 1, '…': '…' }, { b: 1 }],
  ['an element more', [1], [1, 2]],
  ['an element less', [1, 2, '…'], [1]],
  ['an object instead of a list', [1], { 0: 1 }],
]
test.each(other)('%s is a difference', (_, shown, real) => expect(jsonDifference(shown, real)).not.toBeNull())

test('text differs when a literal part differs', () => {
  expect(textDifference('a … c\n…\nz\n', 'a b c\nx\ny\nz\n')).toBeNull()
  expect(textDifference('a … c\n', 'a b d\n')).not.toBeNull()
  expect(textDifference('a\n', 'a\nb\n')).not.toBeNull()
})
