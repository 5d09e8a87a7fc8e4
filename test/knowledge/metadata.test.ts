import { describe, expect, it } from 'vitest'
import { describeDocument } from '../../src/knowledge/metadata.js'

const of = (path: string, text: string, owners: readonly string[] = []) => describeDocument(path, text, owners).metadata

describe('what a document belongs to', () => {
  it('[REQ-KNOW-3] the phase comes from the path or the front matter, never from words', () => {
    expect(of('guides/a.md', '# Phase 3: Deploy\nphase: 3').phases).toEqual([])
    expect(of('guides/a.md', 'text\n---\nphase: 3\n---\n').phases).toEqual([])
    expect(of('guides/a.md', '---\nphase: PLAN\n---\ntext').phases).toEqual(['PLAN'])
    expect(of('guides/a.md', '---\nphase: 3\n---\ntext').phases).toEqual(['3'])
    for (const path of [
      'w/phases/3/phase.md',
      'w/phases/3/tasks/task-1.md',
      'w/phases/3.md',
      'w/phase-3/x.md',
      'phase-3.md',
    ])
      expect(of(path, 'text').phases, path).toEqual(['3'])
  })

  it('[REQ-KNOW-3] where path, front matter and contract disagree, all of them count', () => {
    expect(of('phases/4/x.md', '---\nphase: 1\n---\n', ['2']).phases).toEqual(['2', '4', '1'])
  })

  it('[REQ-KNOW-3] a front matter that cannot be understood seals the document', () => {
    const broken = [
      'phase: [1, 2]',
      'Phase: 2',
      'phases: [2]',
      'phase-id: 2',
      'phase_number: two and a half'.padEnd(90, 'x'),
      'phase: {a: 1}',
      'phase: true',
      'phase: 1.5',
      'phase: ""',
      `phase: ${'x'.repeat(65)}`,
      'phase: 1\nphase: 2',
      'phase: "unclosed',
      '- a\n- b',
      'tags: [{a: 1}]',
      'workflow: []',
      `x: ${'y'.repeat(20_000)}`,
      'a: &a [x, x]\nb: &b [*a, *a]\nc: &c [*b, *b]\nd: &d [*c, *c]\ne: [*d, *d, *d, *d]',
    ]
    for (const front of broken) expect(of('a.md', `---\n${front}\n---\ntext`).isSealed, front).toBe(true)
    for (const front of ['', 'title: x', 'phase: PLAN\ntags: [a]', 'phase:'])
      expect(of('a.md', `---\n${front}\n---\ntext`).isSealed, front).toBe(false)
  })

  it('[REQ-KNOW-3] a front matter of another kind, and one that is never closed, seal it too', () => {
    for (const text of ['+++\nphase = 2\n+++\ntext', '---\nphase: 2\n\n# Text', '---\ntitle: x\nphase: 2\n'])
      expect(of('a.md', text).isSealed, text).toBe(true)
    for (const text of ['---\n\nA rule above.', '---\nA rule above: so it is.', 'text\n+++\n'])
      expect(of('a.md', text).isSealed, text).toBe(false)
  })

  it('[REQ-KNOW-3] a phase by its number counts like one by its name', () => {
    expect(of('a.md', '---\nphase_number: 2\n---\n').phases).toEqual(['2'])
    expect(of('phases/2/phase.md', '---\nphase: 2\nphase_number: 3\n---\n').phases).toEqual(['2', '3'])
  })

  it('[REQ-KNOW-3] tags and workflow come from the front matter and the folders', () => {
    expect(of('docs/security/a.md', '---\ntags: [web, api]\nworkflow: tdd\n---\n')).toMatchObject({
      tags: ['api', 'docs', 'security', 'web'],
      workflow: 'tdd',
    })
    expect(of('a.md', '---\ntags: web, api\n---\n').tags).toEqual(['api', 'web'])
    expect(of('workflows/review/a.md', 'x').workflow).toBe('review')
  })

  it('[REQ-KNOW-3] the text begins after the front matter, in its own line', () => {
    expect(describeDocument('a.md', '---\nphase: 1\n---\n# A\n')).toMatchObject({ body: '# A\n', firstLine: 4 })
    expect(describeDocument('a.md', '\uFEFF---\r\nphase: 1\r\n---\r\n# A')).toMatchObject({ body: '# A', firstLine: 4 })
    expect(describeDocument('a.md', '---\nnever closed')).toMatchObject({ body: '---\nnever closed', firstLine: 1 })
  })
})
