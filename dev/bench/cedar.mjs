// Prints how many decisions a second Cedar (WASM) makes.
import { isAuthorized } from '@cedar-policy/cedar-wasm/nodejs'

const tools = JSON.parse(process.argv[2])
const ms = Number(process.argv[3])
const policies = {
  staticPolicies: tools
    .map((tool) => `permit(principal == Agent::"a", action == Action::"${tool}", resource == Phase::"PLAN");`)
    .join('\n'),
}
const decide = (i) => {
  const answer = isAuthorized({
    principal: { type: 'Agent', id: 'a' },
    action: { type: 'Action', id: tools[i % tools.length] },
    resource: { type: 'Phase', id: 'PLAN' },
    context: {},
    policies,
    entities: [],
  })
  if (answer.type !== 'success' || answer.response.decision !== 'allow')
    throw new Error('a decision was not an allowance')
}
for (let i = 0; i < 200; i += 1) decide(i)
let count = 0
const start = performance.now()
for (; performance.now() - start < ms; count += 1) decide(count)
console.log((count * 1000) / (performance.now() - start))
