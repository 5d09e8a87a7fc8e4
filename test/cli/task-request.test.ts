import { expect, it } from 'vitest'
import { toTaskRequest } from '../../src/cli/client/task-request.js'

it('[REQ-LAUNCH-1] what a person typed is the title, and a longer text is the description as well', () => {
  expect(toTaskRequest('Add a health endpoint')).toEqual({ title: 'Add a health endpoint' })
  expect(toTaskRequest('x'.repeat(200))).toEqual({ title: 'x'.repeat(200) })
  const long = `Give total() an option for taxes. ${'It adds them to each price. '.repeat(10)}`
  expect(toTaskRequest(long)).toEqual({ title: 'Give total() an option for taxes', description: long })
  const words = `sum ${'prices '.repeat(60)}`
  const { title, description } = toTaskRequest(words)
  expect(title).toMatch(/^sum (prices )+…$/)
  expect(title.length).toBeLessThan(125)
  expect(description).toBe(words)
  const lines = 'Add a health endpoint\nIt answers 200.'
  expect(toTaskRequest(lines)).toEqual({ title: 'Add a health endpoint', description: lines })
})
