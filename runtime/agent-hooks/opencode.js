// The plugin that asks Phaselock about every tool call of OpenCode. A throw keeps the tool from running, so everything
// that is not a clear "allow" throws. Beside this file: `address` and `headers`, as for hook.sh.
import { readFileSync } from 'node:fs'

const ANSWER_MS_MAX = 20_000
const read = (name) => readFileSync(new URL(name, import.meta.url), 'utf8').trim()

export const Phaselock = async ({ client, directory }) => {
  const roots = new Map()
  // Subagents have sessions of their own, below the one of the person.
  const findRoot = async (id) => {
    const { data } = await client.session.get({ path: { id } })
    if (data === undefined) throw new Error('OpenCode does not know this session.')
    return data.parentID === undefined ? id : findRoot(data.parentID)
  }
  const ask = async (event, sessionID, more) => {
    const [, authorization = ''] = /^authorization: *(.+)$/im.exec(read('headers')) ?? []
    const root = roots.get(sessionID) ?? (await findRoot(sessionID))
    roots.set(sessionID, root)
    const agent = root === sessionID ? {} : { agent_id: sessionID }
    const body = { hook_event_name: event, session_id: root, cwd: directory, ...agent, ...more }
    const response = await fetch(`${read('address')}/hooks/opencode`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization },
      body: JSON.stringify(body),
      redirect: 'error',
      signal: AbortSignal.timeout(ANSWER_MS_MAX),
    })
    if (response.status !== 200) throw new Error(`Phaselock refused the request (${response.status}).`)
    return response.json()
  }
  const call = ({ tool, callID }, args) => ({ tool_name: tool, tool_use_id: callID, tool_input: args ?? {} })
  return {
    'tool.execute.before': async (input, output) => {
      const said = await ask('tool.execute.before', input.sessionID, call(input, output.args))
      if (said?.decision !== 'allow') throw new Error(String(said?.reason ?? 'Phaselock did not allow this call.'))
    },
    'tool.execute.after': async (input, output) => {
      const more = { ...call(input, input.args ?? output.metadata?.input), tool_response: { title: output.title } }
      const said = await ask('tool.execute.after', input.sessionID, more)
      if (typeof said?.context === 'string') output.output = `${output.output ?? ''}\n\n${said.context}`
    },
  }
}
