// Types of the clients for agents: from the OpenAPI document the answers, from the built-in tools their arguments.

const HEAD = 'Generated from the routes and tools of the server by `npm run generate:api`; not to be edited.'

/** Name of an answer to its operation and, where a client does not return all of its answers, those that it returns. */
const ANSWERS = {
  ClaimAnswer: ['/tasks/claim', 'post'],
  TransitionAnswer: ['/tasks/transition', 'post', 'TransitionMade'],
  ToolAnswer: ['/tools/execute', 'post', 'ToolResult'],
  ToolCheck: ['/tools/check', 'post'],
  BatchAnswer: ['/tools/batch', 'post'],
  StateSnapshot: ['/state/snapshot', 'get', 'Snapshot'],
  PromptAnswer: ['/prompt/next', 'post', 'PromptWithHelp', 'PromptAfterTransition', 'PromptAfterBlockers'],
  PhaseAnswer: ['/phases/{phase}', 'get'],
  CompletionAnswer: ['/phases/{phase}/complete', 'post', 'PhaseCompleted', 'WorkflowCompleted', 'PhaseHeld'],
  KnowledgeAnswer: ['/knowledge/search', 'post'],
  UsageAnswer: ['/usage', 'post'],
  ReleaseAnswer: ['/tasks/release', 'post'],
  ApprovalAnswer: ['/approvals/{id}', 'get'],
  CouncilView: ['/coordinations/{id}', 'get', 'ParticipantView'],
  ResponseAnswer: ['/coordinations/{id}/respond', 'post'],
}

/** Every type that the answers need, and these, by name, as its schema. */
function listSchemas({ paths, components }, more = []) {
  const { schemas } = components
  const nameOf = ({ $ref }) => $ref?.split('/').at(-1)
  const resolve = (schema) => (schema.$ref === undefined ? schema : resolve(schemas[nameOf(schema)]))
  const answers = Object.entries(ANSWERS).map(([name, [path, method, ...wanted]]) => {
    const { schema } = paths[path][method].responses['200'].content['application/json']
    const choices = schema.anyOf ?? [schema]
    const chosen = choices.filter((choice) => wanted.length === 0 || wanted.includes(nameOf(choice)))
    if (chosen.length === 0) throw new Error(`${path} has no answer ${wanted.join(', ')}`)
    return [name, mergeObjects(chosen, resolve)]
  })
  const found = new Map([...answers, ...more.map((name) => [name, schemas[name]])])
  for (const [, schema] of found)
    for (const [, name] of JSON.stringify(omitToken(schema)).matchAll(/"#\/components\/schemas\/(\w+)"/g))
      if (!found.has(name)) found.set(name, schemas[name])
  return { types: [...found].toSorted(([a], [b]) => (a < b ? -1 : 1)), resolve }
}

/** Clients keep the tokens of answers to themselves. */
function omitToken(schema) {
  if (schema.properties?.phase_token === undefined) return schema
  const { phase_token: _, ...properties } = schema.properties
  return { ...schema, properties, required: schema.required.filter((name) => name !== 'phase_token') }
}

/** One object for several: a field that not all of them have is optional. */
function mergeObjects(schemas, resolve) {
  const objects = schemas.map(resolve)
  if (objects.length === 1) return objects[0]
  const names = new Set(objects.flatMap(({ properties }) => Object.keys(properties)))
  const merge = (name) => {
    const found = objects
      .flatMap(({ properties }) => properties[name] ?? [])
      .flatMap((schema) => schema.anyOf ?? schema)
    const choices = [...new Map(found.map((schema) => [JSON.stringify(schema), schema])).values()]
    if (choices.length === 1) return choices[0]
    const areObjects = choices.every((choice) => readSchema(resolve(choice)).kind === 'object')
    return areObjects ? mergeObjects(choices, resolve) : { anyOf: choices }
  }
  return {
    type: 'object',
    properties: Object.fromEntries([...names].map((name) => [name, merge(name)])),
    required: [...names].filter((name) => objects.every(({ required = [] }) => required.includes(name))),
  }
}

/** What a schema is, the same for both languages. */
function readSchema(schema) {
  if (schema.$ref !== undefined) return { kind: 'named', name: schema.$ref.split('/').at(-1) }
  if ('const' in schema) return { kind: 'literals', values: [schema.const] }
  if (schema.enum !== undefined) return { kind: 'literals', values: schema.enum }
  const choices = schema.anyOf ?? schema.oneOf
  if (choices !== undefined) return { kind: 'union', choices }
  if (Array.isArray(schema.type)) return { kind: 'union', choices: schema.type.map((type) => ({ ...schema, type })) }
  if (schema.type === 'array') return { kind: 'array', items: schema.items ?? {} }
  if (schema.type !== 'object') return { kind: 'plain', type: schema.type ?? 'any' }
  const { properties, required = [], additionalProperties } = omitToken(schema)
  if (properties === undefined || Object.keys(properties).length === 0)
    return { kind: 'map', values: typeof additionalProperties === 'object' ? additionalProperties : {} }
  const fields = Object.entries(properties).map(([name, field]) => ({
    name,
    field,
    isRequired: required.includes(name),
    comment: field.description,
  }))
  return { kind: 'object', fields }
}

/** The arguments of each tool; a tool that takes one of two arguments has a form for each. */
function listForms(tools) {
  return tools.map(({ name, description, schema, oneOf = [] }) => {
    const { fields } = readSchema({ ...schema, properties: schema.properties })
    const all = fields ?? []
    const forms = oneOf.map((wanted) =>
      all
        .filter((field) => field.name === wanted || !oneOf.includes(field.name))
        .map((field) => (field.name === wanted ? { ...field, isRequired: true } : field)),
    )
    return { name, description, forms: forms.length > 0 ? forms : [all], oneOf }
  })
}

/** The content of `sdk/typescript/src/api.ts`, and `more` types of the document. */
export function renderTypeScript(document, tools, more = []) {
  const { types } = listSchemas(document, more)
  const forms = listForms(tools).map(({ name, description, forms, oneOf }) => {
    const rendered = forms.map((fields) => {
      const others = oneOf.filter((other) => !fields.some((field) => field.name === other))
      // Braces alone would take any arguments.
      if (fields.length === 0) return '{ readonly [name: string]: never }'
      return typeScriptObject(
        fields,
        others.map((other) => `readonly ${other}?: undefined`),
      )
    })
    return `/** ${description} */\nreadonly ${name}: ${rendered.join(' | ')}`
  })
  return [
    `// ${HEAD}\nimport type { Json, JsonObject } from './json.js'`,
    ...types.map(([name, schema]) => `export type ${name} = ${typeScriptOf(schema)}`),
    `/** The arguments of the built-in tools. */\nexport interface ToolArguments ${braces(forms)}`,
    '',
  ].join('\n\n')
}

function typeScriptOf(schema) {
  const read = readSchema(schema)
  switch (read.kind) {
    case 'named':
      return read.name
    case 'literals':
      return read.values.map((value) => JSON.stringify(value)).join(' | ')
    case 'union':
      return `(${[...new Set(read.choices.map(typeScriptOf))].join(' | ')})`
    case 'array':
      return `readonly (${typeScriptOf(read.items)})[]`
    case 'map':
      return isAny(read.values) ? 'JsonObject' : `{ readonly [name: string]: ${typeScriptOf(read.values)} }`
    case 'object':
      return typeScriptObject(read.fields)
    default:
      return { integer: 'number', any: 'Json' }[read.type] ?? read.type
  }
}

function typeScriptObject(fields, more = []) {
  const lines = fields.map(({ name, field, isRequired, comment }) => {
    const said = comment === undefined ? '' : `/** ${comment.replaceAll('*/', '* /')} */\n`
    return `${said}readonly ${name}${isRequired ? '' : '?'}: ${typeScriptOf(field)}`
  })
  return braces([...lines, ...more])
}

function braces(lines) {
  return lines.length === 0 ? '{}' : `{\n${lines.join('\n').replace(/^/gm, '  ')}\n}`
}

function isAny(schema) {
  return Object.keys(schema).every((key) => key === 'description')
}

/** The content of `python/src/orchestrator_agent_sdk/types.py`. */
export function renderPython(document, tools) {
  const { types, resolve } = listSchemas(document)
  const classes = new Map()
  const nameType = pythonTypes(classes, resolve)
  for (const [name, schema] of types) {
    const read = readSchema(schema)
    if (read.kind === 'object') classes.set(name, pythonClass(name, read.fields, nameType))
    else classes.set(name, `${name} = ${nameType(schema, name)}`)
  }
  for (const [name, field] of tools.flatMap(({ schema }) => Object.entries(schema.properties)))
    if (field.items?.type === 'object') nameType(field, camel(name))
  return `"""What the server answers. ${HEAD}

Answers of newer servers may have more fields than these.
"""

from __future__ import annotations

from typing import Any, Dict, List, Literal, TypedDict, Union


${[...classes.values()].join('\n\n\n')}
`
}

function pythonTypes(classes, resolve) {
  const nameType = (schema, place) => {
    const read = readSchema(schema)
    switch (read.kind) {
      case 'named':
        return `"${read.name}"`
      case 'literals':
        return `Literal[${read.values.map(pythonLiteral).join(', ')}]`
      case 'union':
        return nameUnion(read.choices, place)
      case 'array':
        return `List[${nameType(read.items, singular(place))}]`
      case 'map':
        return `Dict[str, ${isAny(read.values) ? 'Any' : nameType(read.values, place)}]`
      case 'object':
        if (!classes.has(place)) {
          classes.set(place, '')
          classes.set(place, pythonClass(place, read.fields, nameType))
        }
        return `"${place}"`
      default:
        return { integer: 'int', number: 'float', string: 'str', boolean: 'bool', null: 'None', any: 'Any' }[read.type]
    }
  }
  // Fields of a union of several classes could not be read without saying which of them it is.
  const nameUnion = (choices, place) => {
    const isObject = (schema) => readSchema(resolve(schema)).kind === 'object'
    const objects = choices.filter(isObject)
    const merged = objects.length > 1 ? [mergeObjects(objects, resolve)] : objects
    const rest = choices.filter((choice) => !isObject(choice))
    const names = [...new Set([...merged, ...rest].map((choice) => nameType(choice, place)))]
    return names.length === 1 ? names[0] : `Union[${names.join(', ')}]`
  }
  return nameType
}

const PYTHON_WORDS = new Set(['from', 'continue', 'import', 'class', 'in', 'is', 'as', 'with', 'global'])

function pythonClass(name, fields, nameType) {
  const lines = fields.map(({ name: field, field: schema, isRequired }) => ({
    field,
    isRequired,
    type: nameType(schema, `${name}${camel(field)}`),
  }))
  const [required, optional] = [true, false].map((wanted) => lines.filter(({ isRequired }) => isRequired === wanted))
  if (optional.length === 0) return pythonPart(name, required, 'TypedDict')
  if (required.length === 0) return pythonPart(name, optional, 'TypedDict, total=False')
  // `NotRequired` is younger than the oldest Python that has this package.
  return `${pythonPart(`_${name}`, required, 'TypedDict')}\n\n\n${pythonPart(name, optional, `_${name}, total=False`)}`
}

/** A class, or the form that allows names of fields which are words of Python. */
function pythonPart(name, lines, base) {
  if (!lines.some(({ field }) => PYTHON_WORDS.has(field)))
    return `class ${name}(${base}):\n${lines.map(({ field, type }) => `    ${field}: ${type}`).join('\n')}`
  if (base !== 'TypedDict') throw new Error(`${name} has an optional field whose name is a word of Python`)
  const fields = lines.map(({ field, type }) => `        "${field}": ${quoteType(type)},`)
  return `${name} = TypedDict(\n    "${name}",\n    {\n${fields.join('\n')}\n    },\n)`
}

// This form is evaluated when the module is loaded.
function quoteType(type) {
  return `"${type.replaceAll('"', '')}"`
}

function pythonLiteral(value) {
  return typeof value === 'string'
    ? JSON.stringify(value)
    : ({ true: 'True', false: 'False', null: 'None' }[value] ?? value)
}

function camel(name) {
  return name.replace(/(?:^|_)([a-z])/g, (_, letter) => letter.toUpperCase())
}

function singular(name) {
  return name
    .replace(/ies$/, 'y')
    .replace(/(ss|x|ch)es$/, '$1')
    .replace(/([^s])s$/, '$1')
}

/** The content of `python/src/orchestrator_agent_sdk/_tools.py`. */
export function renderPythonTools(tools) {
  const nameType = (field) => {
    const read = readSchema(field)
    if (read.kind === 'literals') return `Literal[${read.values.map(pythonLiteral).join(', ')}]`
    if (read.kind === 'array') return `Sequence[${read.items.type === 'object' ? singular(camel(field.place)) : 'str'}]`
    return { integer: 'int', string: 'str', boolean: 'bool' }[read.type]
  }
  const forms = listForms(tools).flatMap(({ name, forms }) => forms.map((fields) => ({ name, fields })))
  const parameters = (fields) =>
    fields.map(
      ({ name, field, isRequired }) => `${name}: ${nameType({ ...field, place: name })}${isRequired ? '' : ' = ...'}`,
    )
  const signatures = (method, { prefix, answer, wrong }) => [
    ...forms.map(({ name, fields }) => {
      const rest = fields.length === 0 ? '' : `, *, ${parameters(fields).join(', ')}`
      // Where all arguments are optional, right and wrong calls overlap in the call without any.
      const isOpen = fields.every(({ isRequired }) => !isRequired)
      const ignored = isOpen ? '  # type: ignore[overload-overlap]' : ''
      return `    @overload\n    ${prefix}def ${method}(self, name: Literal["${name}"], /${rest}) -> ${answer}: ...${ignored}`
    }),
    `    @overload\n    def ${method}(self, name: BuiltInTool, /, **args: Any) -> ${wrong}: ...`,
    `    @overload\n    ${prefix}def ${method}(self, name: str, /, **args: Any) -> ${answer}: ...`,
  ]
  const classOf = (name, { doc, prefix, wrong, ignored = '' }) => `class ${name}(BaseClient):
    """${doc}"""

${signatures('use_tool', { prefix, answer: 'ToolAnswer', wrong }).join('\n\n')}

    ${prefix}def use_tool(self, name: str, /, **args: Any) -> Any:${ignored}
        """Uses a tool. Raises \`\`ToolDenied\`\` when the phase does not allow it, \`\`ToolFailed\`\` when it could not."""
        return ${prefix === '' ? '' : 'await '}self._run(self._core.use_tool(name, args))

${signatures('check_tool', { prefix, answer: 'ToolCheck', wrong }).join('\n\n')}

    ${prefix}def check_tool(self, name: str, /, **args: Any) -> Any:${ignored}
        """Decides a call and records it, as \`\`use_tool\`\` does, without running anything."""
        return ${prefix === '' ? '' : 'await '}self._run(self._core.check_tool(name, args))

    ${prefix}def _run(self, flow: Flow[Any]) -> Any:
        """Waits for a flow."""
        raise NotImplementedError`
  return `"""The calls of tools. ${HEAD}

A tool that a contract defines takes any arguments.
"""

from __future__ import annotations

from typing import Any, Coroutine, Literal, NoReturn, Sequence, overload

from ._base import BaseClient
from ._effects import Flow
from .types import Edit, File, ToolAnswer, ToolCheck

BuiltInTool = Literal[
${tools.map(({ name }) => `    "${name}",`).join('\n')}
]


class WrongArguments:
    """What a type checker takes a call for whose arguments a built-in tool does not have. There is no such value."""


${classOf('ToolCalls', {
  doc: 'Tools, without asyncio.',
  prefix: '',
  // A type checker reports a coroutine also where nobody uses it.
  wrong: '"Coroutine[WrongArguments, WrongArguments, NoReturn]"',
})}


${classOf('AsyncToolCalls', { doc: 'Tools, with asyncio.', prefix: 'async ', wrong: 'WrongArguments', ignored: '  # type: ignore[misc]' })}
`
}
