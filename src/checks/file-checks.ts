import { RE2JS } from 're2js'
import { matchesGlob } from '../contract/glob.js'
import { abortCheck, asList, type Check, failCheck, getField, isText, passCheck } from './check-inputs.js'

export const checkFileExists: Check = async ({ params, tree }) => {
  const path = getField(params, 'path')
  if (!isText(path)) return abortCheck('the check names no path')
  return (await tree.hash(path)) === null
    ? failCheck(`${path} is not in the work tree`, 'artifact')
    : passCheck(`${path} exists`, 'artifact')
}

export const checkJsonValid: Check = async ({ params, tree }) => {
  const path = getField(params, 'path')
  if (!isText(path)) return abortCheck('the check names no path')
  const content = await tree.read(path)
  if (content === null) return failCheck(`${path} is not in the work tree`, 'artifact')
  try {
    JSON.parse(content.toString('utf8'))
    return passCheck(`${path} is valid JSON`, 'artifact')
  } catch (error) {
    return failCheck(`${path} is not valid JSON (${error instanceof Error ? error.message : 'unreadable'})`, 'artifact')
  }
}

export const checkNoPattern: Check = async ({ params, tree }) => {
  const pattern = getField(params, 'pattern')
  const paths = [...asList(getField(params, 'paths')), getField(params, 'path')].filter(isText)
  if (!isText(pattern) || paths.length === 0) return abortCheck('the check names no pattern or no paths')
  const compiled = RE2JS.compile(pattern, RE2JS.MULTILINE)
  const anywhere = new Set(['.git', 'node_modules'].filter((folder) => !paths.some((glob) => glob.includes(folder))))
  for (const { path, isLink } of await tree.list({ anywhere, atRoot: new Set() })) {
    const isAsked = paths.some((glob) => matchesGlob(glob, path) || (isLink && glob.startsWith(`${path}/`)))
    if (!isAsked) continue
    if (isLink) return abortCheck(`${path} is a link, and what it leads to is not looked at`, 'artifact')
    const content = await tree.read(path)
    if (content !== null && compiled.matcher(content.toString('utf8')).find())
      return failCheck(`${path} contains ${JSON.stringify(pattern)}`, 'artifact')
  }
  return passCheck(`no file contains ${JSON.stringify(pattern)}`, 'artifact')
}
