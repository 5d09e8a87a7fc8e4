import { RE2JS } from 're2js'
import { matchesGlob } from '../contract/glob.js'
import { asList, type Check, errs, fails, field, holds, isText } from './check-inputs.js'

export const fileExists: Check = async ({ params, tree }) => {
  const path = field(params, 'path')
  if (!isText(path)) return errs('the check names no path')
  return (await tree.hash(path)) === null
    ? fails(`${path} is not in the work tree`, 'artifact')
    : holds(`${path} exists`, 'artifact')
}

export const jsonValid: Check = async ({ params, tree }) => {
  const path = field(params, 'path')
  if (!isText(path)) return errs('the check names no path')
  const content = await tree.read(path)
  if (content === null) return fails(`${path} is not in the work tree`, 'artifact')
  try {
    JSON.parse(content.toString('utf8'))
    return holds(`${path} is valid JSON`, 'artifact')
  } catch (error) {
    return fails(`${path} is not valid JSON (${error instanceof Error ? error.message : 'unreadable'})`, 'artifact')
  }
}

export const noPattern: Check = async ({ params, tree }) => {
  const pattern = field(params, 'pattern')
  const paths = [...asList(field(params, 'paths')), field(params, 'path')].filter(isText)
  if (!isText(pattern) || paths.length === 0) return errs('the check names no pattern or no paths')
  const compiled = RE2JS.compile(pattern, RE2JS.MULTILINE)
  const anywhere = new Set(['.git', 'node_modules'].filter((folder) => !paths.some((glob) => glob.includes(folder))))
  for (const { path, isLink } of await tree.list({ anywhere, atRoot: new Set() })) {
    const isAsked = paths.some((glob) => matchesGlob(glob, path) || (isLink && glob.startsWith(`${path}/`)))
    if (!isAsked) continue
    if (isLink) return errs(`${path} is a link, and what it leads to is not looked at`, 'artifact')
    const content = await tree.read(path)
    if (content !== null && compiled.matcher(content.toString('utf8')).find())
      return fails(`${path} contains ${JSON.stringify(pattern)}`, 'artifact')
  }
  return holds(`no file contains ${JSON.stringify(pattern)}`, 'artifact')
}
