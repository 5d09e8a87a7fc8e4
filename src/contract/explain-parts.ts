import type { Blocker, ToolConstraint } from '../core/contract/contract.js'
import type { Json } from '../core/json.js'
import { formatDuration } from '../core/text.js'

/** What a constraint allows and forbids. Paths never have a network. */
export function formatConstraint(tool: string, constraint: ToolConstraint): string {
  const { allowedPatterns, forbiddenPatterns, allowedCommands, forbiddenCommands, network, timeoutSeconds } = constraint
  const isCommand = allowedCommands !== null || forbiddenCommands.length > 0 || timeoutSeconds !== null || network
  return [
    ...(allowedPatterns === null ? [] : [`only ${allowedPatterns.join(', ') || 'no path'}`]),
    ...(forbiddenPatterns.length === 0 ? [] : [`not ${forbiddenPatterns.join(', ')}`]),
    ...(allowedCommands === null ? [] : [`only ${allowedCommands.join(', ') || 'no command'}`]),
    ...(forbiddenCommands.length === 0 ? [] : [`not ${forbiddenCommands.join(', ')}`]),
    ...(isCommand || tool === 'bash' ? [network ? 'with network' : 'no network'] : []),
    ...(timeoutSeconds === null ? [] : [`at most ${formatDuration(timeoutSeconds, 'short')}`]),
  ].join('; ')
}

export function formatBlocker({ check, severity, message, params }: Blocker): string {
  const isCondition = Object.keys(params).length === 1 && typeof params.when === 'string'
  const given = Object.keys(params).length === 0 ? '' : ` ${isCondition ? params.when : formatShortJson(params)}`
  return `${severity} ${check}${given}${message === '' ? '' : `: ${message}`}`
}

export function formatShortJson(value: Json): string {
  return JSON.stringify(value, (_key, member: Json) =>
    member === null || (Array.isArray(member) && member.length === 0) ? undefined : member,
  )
}
