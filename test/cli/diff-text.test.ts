import type { Approval, Diff, FileDiff } from 'phaselock/sdk'
import { describe, expect, it } from 'vitest'
import { formatApproval } from '../../src/cli/terminal/approval-text.js'
import { formatDiff, formatDiffStat } from '../../src/cli/terminal/diff-text.js'

const fileOf = (fields: Partial<FileDiff>): FileDiff => ({
  ...{ path: 'src/a.ts', status: 'modified', binary: false, additions: 1, deletions: 1 },
  ...{ unexplained: false, pinned: false, omitted: null },
  hunks: [{ old_start: 1, old_lines: 1, new_start: 1, new_lines: 1, lines: ['-old', '+new'] }],
  ...fields,
})
const diffOf = (files: readonly FileDiff[], more: Partial<Diff> = {}): Diff => ({
  ...{ files, totals: { files: files.length, additions: 1, deletions: 1 }, truncated: false },
  ...{ available: true, unavailable_reason: null },
  ...more,
})

describe('a diff on the terminal', () => {
  it('[REQ-PAGED-1] what an agent wrote cannot change what is shown: control sequences are left out and counted', () => {
    const evil = `+safe\u001b[2K\u001b[1A\u202eevil\u0007`
    const hunks = [{ old_start: 1, old_lines: 0, new_start: 1, new_lines: 1, lines: [evil] }]
    const text = formatDiff(diffOf([fileOf({ path: 'a\u001b[31m\nb', hunks })]))
    // biome-ignore lint/suspicious/noControlCharactersInRegex: none of them may be printed.
    expect(text).not.toMatch(/[\u001b\u202e\u0007]/)
    expect(text).toContain('+safeevil  ! 10 control or invisible characters left out')
    expect(text).toContain('M a b')
  })

  it('[REQ-PAGED-1] a line in which something is hidden is marked, so that nobody takes it for the content', () => {
    const lines = ['+const url = "https://[redacted]@example.com/"', '+const port = 80']
    const hunks = [{ old_start: 1, old_lines: 0, new_start: 1, new_lines: 2, lines }]
    const [hidden, plain] = formatDiff(diffOf([fileOf({ hunks })]))
      .split('\n')
      .slice(-2)
    expect(hidden).toBe(`${lines[0]}  ! what looks like a secret is hidden; the file has it`)
    expect(plain).toBe(lines[1])
  })

  it('[REQ-PAGED-1] a diff that cannot be made says why, and nothing changed is said', () => {
    const none = diffOf([], { available: false, unavailable_reason: 'The tree was not recorded.' })
    expect(formatDiff(none)).toBe('No diff: The tree was not recorded.')
    expect(formatDiffStat(diffOf([]))).toBe('Nothing changed.')
  })

  it('[REQ-PAGED-1] files come with their lines, those without them with the reason', () => {
    const files = [
      fileOf({}),
      fileOf({ path: 'b.png', status: 'added', omitted: 'binary', hunks: [], unexplained: true }),
      fileOf({ path: 'c.test.ts', pinned: true, omitted: 'too_many_files', hunks: [] }),
    ]
    expect(formatDiff(diffOf(files, { truncated: true }))).toBe(
      [
        '  M src/a.ts   +1 -1',
        '  A b.png        ! not text; no call explains it',
        '  M c.test.ts    pinned: a test that may not change any more  ! not shown: too many files changed',
        '3 files changed, +1 -1; not everything is shown',
        '',
        '--- a/src/a.ts',
        '+++ b/src/a.ts',
        '@@ -1,1 +1,1 @@',
        '-old',
        '+new',
      ].join('\n'),
    )
    expect(formatDiffStat(diffOf(files))).not.toContain('@@')
  })

  it('[REQ-PAGED-1] an approval shows its checks, what is new and the diff, and says when it is outdated', () => {
    const approval = {
      ...{ id: 'apr-1-t', task_id: 't', approvers: ['human'], min_approvals: 1, decisions: [], warnings: [] },
      ...{ artifacts: [], evidence: {}, outdated: true, diff: diffOf([fileOf({})]), refusals: [{}] },
      checks: [
        { gate: 'g', check: 'all_tests_pass', status: 'passed', grade: 'observed', message: '12 passed' },
        { gate: 'g', check: 'no_skipped_tests', status: 'not_run', grade: null, message: '' },
      ],
      since_last: {
        ...{ approval_id: 'apr-0-t', decision: 'reject', comment: 'too short', by: 'ann', at: '' },
        ...{ changed_artifacts: ['plan'], changed_paths: ['docs/plan'] },
      },
    } as unknown as Approval
    const text = formatApproval(approval)
    expect(text).toContain('Outdated   the work tree changed since the request')
    expect(text).toContain('Since the last request  reject by ann: too short\n  plan\n  docs/plan\n')
    expect(text).toContain(
      'Checks\n  passed   all_tests_pass (observed): 12 passed\n  not_run  no_skipped_tests\n\n  observed: Phaselock saw it.\n\n1 refusal on the way\n',
    )
    expect(text).toContain('Changes\n  M src/a.ts  +1 -1\n')
    expect(text).toContain('@@ -1,1 +1,1 @@')
    expect(formatApproval(approval, { stat: true })).not.toContain('@@')
  })
  it('[REQ-PAGED-1] an approval shows the gates before it, the diff once, and no expressions', () => {
    const check = (name: string, grade: string, message: string) => ({
      ...{ gate: 'g', artifact: null, severity: 'blocking', check: name, status: 'passed', grade, message },
    })
    const changes = [{ path: 'src/a.ts', diff: '-old\n+new' }]
    const approval = {
      ...{ id: 'apr-1-t', task_id: 't', approvers: ['human'], min_approvals: 1, decisions: [], warnings: [] },
      ...{ artifacts: [{ type: 'changes_to_review', sha256: 'x', bytes: 1, grade: 'observed' }], evidence: {} },
      ...{
        phase: 'REVIEW',
        contents: { changes_to_review: { changes, checks: [{ check: 'told_twice' }] } },
        diff: diffOf([fileOf({})]),
      },
      checks: [check('expression', 'reported', 'size(artifacts.review_report.reviews) > 0')],
    } as unknown as Approval
    const gates = [
      { id: 'red', phase: 'TDD', status: 'passed', checks: [check('tests_are_failing', 'proved', '3 tests fail')] },
      { id: 'later', phase: 'COMMIT', status: 'not_tried', checks: [check('x', 'reported', '')] },
      { id: 'own', phase: 'REVIEW', status: 'passed', checks: [check('y', 'reported', '')] },
    ] as never
    const text = formatApproval(approval, { gates })
    expect(text).toContain(
      'Gates that opened before  for your information; your approval covers the rest\n  red, leaving TDD\n    passed   tests_are_failing (proved): 3 tests fail\n',
    )
    for (const absent of ['later', 'own, leaving', 'size(artifacts', 'told_twice']) expect(text).not.toContain(absent)
    expect(text).toContain('Checks\n  passed   1 condition of the contract holds\n')
    expect(text).toContain('proved: Phaselock tried to disprove it.')
    expect(text).toContain('diff: below, under Changes')
    expect(text.match(/\+new/g)).toHaveLength(1)
    // Without a diff below, the artifact has the only one.
    const alone = { ...approval, diff: diffOf([], { available: false, unavailable_reason: 'gone' }) } as Approval
    expect(formatApproval(alone).match(/\+new/g)).toHaveLength(1)
  })
})
