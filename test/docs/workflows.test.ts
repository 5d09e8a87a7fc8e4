import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { BUNDLED_CONTRACTS, findBundledContract, isDocuments } from '../../src/contract/bundled-contracts.js'
import { loadContractFile } from '../../src/contract/load/load-contract.js'
import { compileSchema } from '../../src/contract/schemas.js'
import type { Phase } from '../../src/core/contract/contract.js'
import { isObject, type Json } from '../../src/core/json.js'

const PAGE = readFileSync(new URL('../../docs/workflows.md', import.meta.url), 'utf8')
const NAMES = BUNDLED_CONTRACTS.filter((name) => !isDocuments(name))
/** Made by Phaselock, or from before the prompts showed everything. */
const NOT_SHOWN = ['test_run_result']

function sectionOf(name: string): string {
  const [, after = ''] = PAGE.split(`\n## ${name}\n`)
  return after.split('\n## ')[0] ?? ''
}

/** The JSON objects in a prompt, from the brace that opens one to the brace that closes it. */
function listExamples(prompt: string): readonly Json[] {
  const found: Json[] = []
  for (let at = prompt.indexOf('{"'); at !== -1; at = prompt.indexOf('{"', at + 1))
    for (let end = prompt.indexOf('}', at); end !== -1; end = prompt.indexOf('}', end + 1)) {
      try {
        const example = JSON.parse(prompt.slice(at, end + 1)) as Json
        found.push(example, ...listHandedIn(example))
        at = end
        break
      } catch {
        // It ends later.
      }
    }
  return found
}

/** Each artifact is shown in the call that hands it in. */
function expectWholeCalls({ id, prompt, requiredArtifacts }: Phase, examples: readonly Json[]): void {
  expect(prompt, id).toContain('request_transition:')
  for (const { type } of requiredArtifacts.filter((one) => !NOT_SHOWN.includes(one.type)))
    expect(examples, id).toContainEqual({
      target_phase: expect.any(String),
      artifacts: { [type]: expect.any(Object) },
    })
}

/** The artifacts of a whole request. */
function listHandedIn(example: Json): readonly Json[] {
  return isObject(example) && isObject(example.artifacts) ? Object.values(example.artifacts) : []
}

describe('docs/workflows.md', () => {
  it.each(NAMES)('[REQ-WORKFLOW-6] the page describes %s as its contract does', async (name) => {
    const loaded = await loadContractFile(findBundledContract(name))
    if (!loaded.ok) throw new Error(`${name} does not load`)
    const { phases, transitions } = loaded.contract
    const section = sectionOf(name)
    expect(PAGE).toContain(`| [\`${name}\`](#${name}) |`)
    expect([...section.matchAll(/^\| ([A-Z]+) \|/gm)].map(([, id]) => id)).toEqual([...phases.keys()])
    for (const phase of phases.values()) {
      const line = section.split('\n').find((one) => one.startsWith(`| ${phase.id} |`)) ?? ''
      for (const { type } of phase.requiredArtifacts)
        if (!NOT_SHOWN.includes(type)) expect(line, `${phase.id} ${type}`).toContain(`\`${type}\``)
      for (const { type, blockers } of phase.gates) {
        for (const { check, severity } of blockers)
          if (severity === 'blocking') expect(line, `${phase.id} ${check}`).toContain(`\`${check}\``)
        if (type === 'approval') expect(line, phase.id).toContain('a person')
      }
      if (phase.reviewBy === 'other') expect(line, phase.id).toContain('a person approves the review')
    }
    for (const { when } of transitions) if (when !== null) expect(section, when).toContain(`\`${when}\``)
  })

  it.each(NAMES)('[REQ-WORKFLOW-6] the prompts of %s show every artifact, and name the way on', async (name) => {
    const loaded = await loadContractFile(findBundledContract(name))
    if (!loaded.ok) throw new Error(`${name} does not load`)
    const { phases, transitions, schemas } = loaded.contract
    for (const phase of phases.values()) {
      const examples = listExamples(phase.prompt)
      for (const { type, schema } of phase.requiredArtifacts) {
        if (NOT_SHOWN.includes(type)) continue
        expect(phase.prompt, phase.id).toContain(type)
        const validate = compileSchema(schemas.get(schema ?? '') ?? false)
        const isShown = examples.some((example) => validate(example).length === 0)
        expect(isShown, `${phase.id} shows ${type}, among ${JSON.stringify(examples)}`).toBe(true)
      }
      if (name === 'tdd') expectWholeCalls(phase, examples)
      for (const { from, to, when } of transitions) {
        if (from !== phase.id) continue
        expect(phase.prompt, `${from} ${to}`).toMatch(new RegExp(`\\b${to}\\b`))
        if (when !== null) expect(phase.prompt, `${from} ${to}`).toContain(when)
      }
    }
  })

  it('[REQ-READS-7] the prompts of tdd say what to do while a person decides, and how the last phase ends', async () => {
    const loaded = await loadContractFile(findBundledContract('tdd'))
    const promptOf = (id: string): string => (loaded.ok ? (loaded.contract.phases.get(id)?.prompt ?? '') : '')
    expect(promptOf('PLAN')).not.toContain('request TDD again')
    expect(promptOf('PLAN')).toMatch(
      /the call may wait for that\. If its answer is approval_pending, make\s+the same call again/,
    )
    expect(promptOf('COMPLETE')).toMatch(/the last phase:\s+requesting COMPLETE itself completes the task/)
  })

  it('[REQ-READS-6] the prompt of a review shows how a comment is marked as resolved', async () => {
    const loaded = await loadContractFile(findBundledContract('tdd'))
    const prompt = loaded.ok ? (loaded.contract.phases.get('REVIEW')?.prompt ?? '') : ''
    expect(listExamples(prompt)).toContainEqual({ comment: expect.any(String), status: 'resolved' })
  })
})
