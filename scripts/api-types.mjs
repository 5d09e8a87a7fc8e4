// Types of the REST API from its OpenAPI document, in the layout that openapi-fetch reads. openapi-typescript makes the same,
// but needs the programming interface of the compiler, which TypeScript 7 does not have.

const HEAD = '// Generated from the OpenAPI document by `npm run generate:api`; not to be edited.'

/** The content of `dashboard/src/api/schema.d.ts`. */
export function renderApiTypes({ paths, components }) {
  const operations = Object.values(paths).flatMap((methods) => Object.values(methods))
  const parts = {
    paths: renderEach(paths, renderPath),
    operations: renderFields(operations.map((one) => [one.operationId, renderOperation(one), one.summary])),
    components: renderFields([
      ['responses', renderEach(components.responses, renderAnswer)],
      ['schemas', renderEach(components.schemas, renderSchema)],
    ]),
  }
  return [HEAD, ...Object.entries(parts).map(([name, part]) => `export interface ${name} ${part}`), ''].join('\n\n')
}

function renderPath(methods) {
  return renderEach(methods, ({ operationId }) => `operations['${operationId}']`)
}

function renderOperation({ parameters = [], requestBody, responses }) {
  const places = ['query', 'header', 'path'].map((place) => {
    const given = parameters.filter((one) => one.in === place)
    const isRequired = given.some((one) => one.required)
    const fields = given.map((one) => [mark(one.name, one.required), renderSchema(one.schema), one.schema.description])
    return given.length === 0 ? [`${place}?`, 'never'] : [mark(place, isRequired), renderFields(fields)]
  })
  return renderFields([
    ['parameters', renderFields([...places, ['cookie?', 'never']])],
    requestBody === undefined ? ['requestBody?', 'never'] : ['requestBody', renderContent(requestBody)],
    ['responses', renderEach(responses, renderAnswer)],
  ])
}

function renderAnswer(answer) {
  if (answer.$ref !== undefined) return renderRef(answer)
  return `{ headers: { [name: string]: unknown } } & ${renderContent(answer)}`
}

function renderContent({ content }) {
  return renderFields([['content', renderEach(content, ({ schema }) => renderSchema(schema))]])
}

function renderSchema(schema) {
  if (schema.$ref !== undefined) return renderRef(schema)
  if ('const' in schema) return JSON.stringify(schema.const)
  const choices =
    schema.enum?.map((value) => JSON.stringify(value)) ?? (schema.anyOf ?? schema.oneOf)?.map(renderSchema)
  if (choices !== undefined) return `(${choices.join(' | ')})`
  if (Array.isArray(schema.type)) return `(${schema.type.map((type) => renderSchema({ ...schema, type })).join(' | ')})`
  return RENDERED[schema.type]?.(schema) ?? schema.type ?? 'unknown'
}

function renderRef({ $ref }) {
  const [kind, name] = $ref.split('/').slice(-2)
  return `components['${kind}']['${name}']`
}

const RENDERED = {
  integer: () => 'number',
  array: ({ items = {} }) => `${renderSchema(items)}[]`,
  object: ({ properties, required = [], additionalProperties = {} }) => {
    if (properties === undefined || (additionalProperties !== false && Object.keys(properties).length === 0))
      return `{ [name: string]: ${typeof additionalProperties === 'object' ? renderSchema(additionalProperties) : 'unknown'} }`
    const fields = Object.entries(properties).map(([name, schema]) => {
      const { description } = schema
      return [mark(name, required.includes(name)), renderSchema(schema), description]
    })
    return renderFields(additionalProperties === false ? fields : [...fields, ['[name: string]', 'unknown']])
  },
}

function mark(name, isRequired) {
  return isRequired ? name : `${name}?`
}

function renderEach(parts, render) {
  return renderFields(Object.entries(parts).map(([name, part]) => [name, render(part)]))
}

function renderFields(fields) {
  if (fields.length === 0) return '{}'
  const lines = fields.map(([name, type, comment]) => {
    const said = comment === undefined ? '' : `/** ${comment.replaceAll('*/', '* /')} */\n`
    return `${said}${quote(name)}: ${type}`
  })
  return `{\n${lines.join('\n').replace(/^/gm, '  ')}\n}`
}

function quote(name) {
  return /^(?:[A-Za-z_]\w*\??|\d+|\[.+\])$/.test(name)
    ? name
    : `'${name.replace(/\?$/, '')}'${name.endsWith('?') ? '?' : ''}`
}
