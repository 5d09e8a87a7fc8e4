import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parsePlaceholders, renderPrompt } from '../../src/contract/prompt.js'
import type { Json } from '../../src/core/json.js'

const values = {
  task: { title: 'Fix login', description: 'It fails.' },
  artifacts: new Map<string, Json>([['plan_document', { title: 'A plan', steps: ['one', 'two'], deep: { n: 3 } }]]),
  guides: new Map([['STYLE', 'Be brief. {{task.title}}']]),
  variables: { hint: 'look here' },
}

describe('prompts', () => {
  it.each([
    ['{{task.title}}: {{ task.description }}', 'Fix login: It fails.'],
    ['{{artifacts.plan_document.title}}', 'A plan'],
    ['{{artifacts.plan_document.deep.n}}', '3'],
    ['{{artifacts.plan_document.steps}}', '[\n  "one",\n  "two"\n]'],
    ['{{artifacts.plan_document.steps.1}}', 'two'],
    ['{{guide:STYLE}}', 'Be brief. {{task.title}}'],
    ['{{STYLE}}', 'Be brief. {{task.title}}'],
    ['a{{?hint}}b{{?other}}c', 'alook herebc'],
    ['{{artifacts.plan_document.nope}}', '[missing: artifacts.plan_document.nope]'],
    ['{{artifacts.review_report.x}}', '[missing: artifacts.review_report.x]'],
    ['{{artifacts.plan_document.constructor.name}}', '[missing: artifacts.plan_document.constructor.name]'],
    ['{{artifacts.__proto__.x}}', '[missing: artifacts.__proto__.x]'],
    ['{{guide:NOPE}} {{NOPE}} {{a b}}', '[missing: guide:NOPE] [missing: NOPE] [missing: a b]'],
    ['{{?__proto__}}{{?toString}}', ''],
    ['{ {task.title} } {{', '{ {task.title} } {{'],
  ])('[REQ-CONTRACT-14] %s renders as expected', (text, expected) => {
    expect(renderPrompt(text, values)).toBe(expected)
  })

  it('[REQ-CONTRACT-14] what an artifact brings is not read as a placeholder', () => {
    const artifacts = { note: { text: '{{guide:STYLE}} $& {{task.title}}' } }
    expect(renderPrompt('{{artifacts.note.text}}', { ...values, artifacts })).toBe('{{guide:STYLE}} $& {{task.title}}')
  })

  it('[REQ-CONTRACT-14] a long value is cut and says so', () => {
    const artifacts = { note: 'x'.repeat(20_001) }
    expect(renderPrompt('{{artifacts.note}}', { ...values, artifacts })).toMatch(/x\n\[cut: 1 more characters\]$/)
  })

  it('[REQ-CONTRACT-14] no text makes rendering throw', () => {
    const piece = fc.constantFrom('{{', '}}', 'task.', 'title', 'artifacts.', 'guide:', '?', '.', ' ', 'x', '__proto__')
    fc.assert(
      fc.property(fc.array(fc.oneof(piece, fc.string())), (pieces) => {
        const text = pieces.join('')
        expect(typeof renderPrompt(text, values)).toBe('string')
        parsePlaceholders(text)
      }),
    )
  })
})
