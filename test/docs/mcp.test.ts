import { expect, test } from 'vitest'
import { WORKFLOW_TOOLS } from '../../src/mcp/workflow-tools.js'
import { sectionsOf } from './blocks.js'

const sections = sectionsOf('docs/mcp.md')

test('every tool of the workflow stands once in docs/mcp.md, with the arguments that it takes', () => {
  const rows = [...(sections.get('Tools') ?? '').matchAll(/^\| `(\w+)` \|(.*?)\|/gm)]
  const documented = rows.map(([, name, args]) => [name, argumentsIn(args ?? '')])
  const real = [...WORKFLOW_TOOLS.values()].map(({ name, inputSchema }) => {
    const { properties = {}, required = [] } = inputSchema as {
      readonly properties?: object
      readonly required?: readonly string[]
    }
    return [name, Object.keys(properties).map((one) => (required.includes(one) ? one : `${one}?`))]
  })
  const sorted = (tools: readonly (readonly unknown[])[]) =>
    tools.map(([name, args]) => [name, [...(args as readonly string[])].sort()]).sort()
  expect(sorted(documented)).toEqual(sorted(real))
})

function argumentsIn(cell: string): readonly string[] {
  return [...cell.matchAll(/`(\w+\??)`/g)].map(([, name]) => name ?? '')
}
