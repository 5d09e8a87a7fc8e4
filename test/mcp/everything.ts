import {
  acceptedContent,
  type ClientCapabilities,
  createRequestStateCodec,
  type InputRequest,
  inputRequired,
  inputResponse,
  ProtocolError,
  type Server,
  type ServerContext,
} from '@modelcontextprotocol/server'

/**
 * The tools, resources and prompts that the scenarios of the conformance suite call, on a server of Phaselock: what is
 * tried is how their answers, notifications and questions get through its entrance. Only this test adds them.
 */

type Result = Record<string, unknown>
type Arguments = Readonly<Record<string, unknown>>
type Handler = (request: { readonly params?: Arguments }, context: ServerContext) => unknown

interface Fixture {
  readonly schema?: Record<string, unknown>
  readonly answer: (args: Arguments, context: ServerContext) => unknown
}

const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg=='
const WAV = 'UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA='
const NO_ARGUMENTS = { type: 'object', properties: {} }
const IMAGE = { type: 'image', data: PNG, mimeType: 'image/png' }

const makeText = (text: string) => ({ type: 'text', text })
const makeAnswer = (...content: readonly unknown[]): Result => ({ content })
const makeResource = (uri: string, mimeType: string, text: string) => ({
  type: 'resource',
  resource: { uri, mimeType, text },
})

// Sealed by the server, because it comes back through the client.
const states = createRequestStateCodec<{ readonly round: number }>({ key: 'the key of the states of this test only' })

/** The state of the round before, as the server sealed it; a changed one is refused. */
async function readRound(context: ServerContext): Promise<number> {
  const state = context.mcpReq.requestState<string>()
  if (state === undefined) return 0
  try {
    return ((await states.verify(state, context)) as { readonly round: number }).round
  } catch {
    throw new ProtocolError(-32602, 'The request state was changed.')
  }
}

async function ask(requests: Record<string, InputRequest>, context: ServerContext, round?: number) {
  const sealed = round === undefined ? {} : { requestState: await states.mint({ round }, context) }
  return inputRequired({ inputRequests: requests, ...sealed })
}

function makeForm(message: string, properties: Record<string, unknown>, required = Object.keys(properties)) {
  return inputRequired.elicit({ message, requestedSchema: { type: 'object', properties, required } as never })
}

function makeSampling(text: string) {
  return inputRequired.createMessage({
    messages: [{ role: 'user', content: { type: 'text', text } }],
    maxTokens: 100,
  })
}

const TEXT = { type: 'string' }

/** A tool that asks for one form and answers with what it got. */
function makeAsking(properties: Record<string, unknown>, required?: readonly string[]): Fixture {
  return {
    answer: async ({ message = 'Please answer' }, context) => {
      const view = inputResponse(context.mcpReq.inputResponses, 'form')
      if (view.kind !== 'elicit')
        return ask({ form: makeForm(String(message), properties, required as string[] | undefined) }, context)
      const content = JSON.stringify(acceptedContent(context.mcpReq.inputResponses, 'form') ?? {})
      return makeAnswer(makeText(`Elicitation completed: action=${view.action}, content=${content}`))
    },
  }
}

/** A tool that asks the model of the client. */
function makeSampler(): Fixture {
  return {
    answer: ({ prompt = 'What is the capital of France?' }, context) => {
      const view = inputResponse(context.mcpReq.inputResponses, 'sample')
      if (view.kind !== 'sampling') return ask({ sample: makeSampling(String(prompt)) }, context)
      return makeAnswer(makeText(`LLM response: ${JSON.stringify(view.result.content)}`))
    },
  }
}

/** A tool that keeps a sealed state while it asks. */
function makeSealed(): Fixture {
  return {
    answer: async (_args, context) => {
      const round = await readRound(context)
      if (round === 0 || acceptedContent(context.mcpReq.inputResponses, 'confirm') === undefined)
        return ask({ confirm: makeForm('Go on?', { ok: { type: 'boolean' } }) }, context, 1)
      return makeAnswer(makeText('state-ok'))
    },
  }
}

const choose = (kind: 'oneOf' | 'anyOf', names: readonly string[]) => ({
  [kind]: names.map((name) => ({ const: name, title: `Option ${name}` })),
})

const TOOLS: Readonly<Record<string, Fixture>> = {
  test_simple_text: { answer: () => makeAnswer(makeText('This is a simple text response for testing.')) },
  test_image_content: { answer: () => makeAnswer(IMAGE) },
  test_audio_content: { answer: () => makeAnswer({ type: 'audio', data: WAV, mimeType: 'audio/wav' }) },
  test_embedded_resource: {
    answer: () =>
      makeAnswer(makeResource('test://embedded-resource', 'text/plain', 'This is an embedded resource content.')),
  },
  test_multiple_content_types: {
    answer: () =>
      makeAnswer(
        makeText('Multiple content types test:'),
        IMAGE,
        makeResource('test://mixed-content-resource', 'application/json', '{"test":"data","value":123}'),
      ),
  },
  test_error_handling: {
    answer: () => ({
      ...makeAnswer(makeText('This tool intentionally returns an error for testing')),
      isError: true,
    }),
  },
  test_tool_with_logging: {
    answer: async (_args, { mcpReq }) => {
      for (const data of ['Tool execution started', 'Tool processing data', 'Tool execution completed'])
        await mcpReq.notify({ method: 'notifications/message', params: { level: 'info', data } })
      return makeAnswer(makeText('Tool with logging executed successfully'))
    },
  },
  test_logging_tool: { answer: () => makeAnswer(makeText('It logs nothing unless it is asked to.')) },
  test_tool_with_progress: {
    answer: async (_args, { mcpReq }) => {
      const progressToken = mcpReq._meta?.progressToken
      for (const progress of progressToken === undefined ? [] : [0, 50, 100])
        await mcpReq.notify({ method: 'notifications/progress', params: { progressToken, progress, total: 100 } })
      return makeAnswer(makeText(String(progressToken)))
    },
  },
  test_reconnection: { answer: () => makeAnswer(makeText('Reconnection test completed.')) },
  test_sampling: { schema: { type: 'object', properties: { prompt: TEXT }, required: ['prompt'] }, ...makeSampler() },
  test_elicitation: {
    schema: { type: 'object', properties: { message: TEXT }, required: ['message'] },
    ...makeAsking({ username: TEXT, email: TEXT }),
  },
  test_elicitation_sep1034_defaults: makeAsking(
    {
      name: { type: 'string', default: 'John Doe' },
      age: { type: 'integer', default: 30 },
      score: { type: 'number', default: 95.5 },
      status: { type: 'string', enum: ['active', 'inactive', 'pending'], default: 'active' },
      verified: { type: 'boolean', default: true },
    },
    [],
  ),
  test_elicitation_sep1330_enums: makeAsking(
    {
      untitledSingle: { type: 'string', enum: ['option1', 'option2', 'option3'] },
      titledSingle: { type: 'string', ...choose('oneOf', ['value1', 'value2', 'value3']) },
      legacyEnum: { type: 'string', enum: ['opt1', 'opt2'], enumNames: ['Option One', 'Option Two'] },
      untitledMulti: { type: 'array', items: { type: 'string', enum: ['option1', 'option2', 'option3'] } },
      titledMulti: { type: 'array', items: choose('anyOf', ['value1', 'value2', 'value3']) },
    },
    [],
  ),
  json_schema_2020_12_tool: {
    schema: {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      type: 'object',
      $defs: { address: { $anchor: 'addressDef', type: 'object', properties: { street: TEXT, city: TEXT } } },
      properties: {
        name: TEXT,
        address: { $ref: '#/$defs/address' },
        contactMethod: { type: 'string', enum: ['phone', 'email'] },
        phone: TEXT,
        email: TEXT,
      },
      allOf: [{ anyOf: [{ required: ['phone'] }, { required: ['email'] }] }],
      if: { properties: { contactMethod: { const: 'phone' } }, required: ['contactMethod'] },
      // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema.
      then: { required: ['phone'] },
      else: { required: ['email'] },
      additionalProperties: false,
    },
    answer: () => makeAnswer(makeText('ok')),
  },
  test_input_required_result_elicitation: {
    answer: (_args, context) => {
      const content = acceptedContent<{ name?: unknown }>(context.mcpReq.inputResponses, 'user_name')
      if (typeof content?.name !== 'string') return ask({ user_name: makeForm('Your name?', { name: TEXT }) }, context)
      return makeAnswer(makeText(`Hello, ${content.name}!`))
    },
  },
  test_input_required_result_sampling: makeSampler(),
  test_input_required_result_list_roots: {
    answer: (_args, context) => {
      const view = inputResponse(context.mcpReq.inputResponses, 'roots')
      if (view.kind !== 'roots') return ask({ roots: inputRequired.listRoots() }, context)
      return makeAnswer(makeText(view.roots.map(({ uri }) => uri).join(', ')))
    },
  },
  test_input_required_result_request_state: makeSealed(),
  test_input_required_result_tampered_state: makeSealed(),
  test_input_required_result_multiple_inputs: {
    answer: async (_args, context) => {
      if ((await readRound(context)) > 0) return makeAnswer(makeText('All inputs received.'))
      const requests = {
        user_name: makeForm('Your name?', { name: TEXT }),
        greeting: makeSampling('Say hello.'),
        client_roots: inputRequired.listRoots(),
      }
      return ask(requests, context, 1)
    },
  },
  test_input_required_result_multi_round: {
    answer: async (_args, context) => {
      const round = await readRound(context)
      if (round >= 2) return makeAnswer(makeText('Both rounds are done.'))
      const form = makeForm(`Step ${round + 1}`, round === 0 ? { name: TEXT } : { color: TEXT })
      return ask({ [`step${round + 1}`]: form }, context, round + 1)
    },
  },
  test_input_required_result_capabilities: {
    answer: async (_args, context) => {
      if ((await readRound(context)) > 0) return makeAnswer(makeText('Input received.'))
      const { elicitation, sampling } = readCapabilities(context)
      const requests = {
        ...(elicitation === undefined ? {} : { form: makeForm('A value?', { value: TEXT }) }),
        ...(sampling === undefined ? {} : { sample: makeSampling('Say hi.') }),
      }
      if (Object.keys(requests).length === 0) return makeAnswer(makeText('The client can be asked nothing.'))
      return ask(requests, context, 1)
    },
  },
  test_missing_capability: makeSampler(),
  test_streaming_elicitation: makeAsking({ answer: TEXT }),
}

function readCapabilities({ mcpReq }: ServerContext): ClientCapabilities {
  const envelope = (mcpReq.envelope ?? {}) as Record<string, unknown>
  return (envelope['io.modelcontextprotocol/clientCapabilities'] ?? {}) as ClientCapabilities
}

const RESOURCES: Readonly<Record<string, Result>> = {
  'test://static-text': { mimeType: 'text/plain', text: 'This is the content of the static text resource.' },
  'test://static-binary': { mimeType: 'image/png', blob: PNG },
  'test://watched-resource': { mimeType: 'text/plain', text: 'Watched resource content.' },
}

const TEMPLATE = /^test:\/\/template\/([^/]+)\/data$/

function findResource(uri: string): Result | undefined {
  const id = TEMPLATE.exec(uri)?.[1]
  const text = JSON.stringify({ id, templateTest: true, data: `Data for ID: ${id}` })
  return id === undefined ? RESOURCES[uri] : { mimeType: 'application/json', text }
}

const makePrompt = (...contents: readonly unknown[]): Result => ({
  messages: contents.map((content) => ({ role: 'user', content })),
})

interface PromptFixture {
  readonly parameters?: readonly string[]
  readonly answer: (args: Arguments, context: ServerContext) => unknown
}

const PROMPTS: Readonly<Record<string, PromptFixture>> = {
  test_simple_prompt: { answer: () => makePrompt(makeText('This is a simple prompt for testing.')) },
  test_prompt_with_arguments: {
    parameters: ['arg1', 'arg2'],
    answer: ({ arg1, arg2 }) =>
      makePrompt(makeText(`Prompt with arguments: arg1='${String(arg1)}', arg2='${String(arg2)}'`)),
  },
  test_prompt_with_embedded_resource: {
    parameters: ['resourceUri'],
    answer: ({ resourceUri }) =>
      makePrompt(
        makeResource(String(resourceUri), 'text/plain', 'Embedded resource content for testing.'),
        makeText('Please process the embedded resource above.'),
      ),
  },
  test_prompt_with_image: { answer: () => makePrompt(IMAGE, makeText('Please analyze the image above.')) },
  test_input_required_result_prompt: {
    answer: (_args, context) => {
      const content = acceptedContent<{ context?: unknown }>(context.mcpReq.inputResponses, 'user_context')
      if (typeof content?.context !== 'string')
        return ask({ user_context: makeForm('Which context?', { context: TEXT }) }, context)
      return makePrompt(makeText(`Prompt with context: ${content.context}`))
    },
  },
}

/** Adds the fixtures to a server; everything else is answered as before. */
export function addEverything(server: Server): void {
  server.registerCapabilities({ logging: {}, completions: {} })
  const { _requestHandlers: handlers } = server as unknown as { readonly _requestHandlers: Map<string, Handler> }
  const extend = (method: string, answer: (params: Arguments, context: ServerContext) => unknown) => {
    const before = handlers.get(method)
    const handle: Handler = async (request, context) =>
      (await answer(request.params ?? {}, context)) ?? before?.(request, context)
    server.setRequestHandler(method as 'ping', handle as never)
  }
  const addToList = (method: string, name: string, items: readonly unknown[]) => {
    const before = handlers.get(method)
    extend(method, async (params, context) => {
      const answer = (await before?.({ ...{ method, params } } as never, context)) as Record<string, unknown>
      return { ...answer, [name]: [...(answer[name] as readonly unknown[]), ...items] }
    })
  }
  addToList('tools/list', 'tools', listTools())
  addToList('resources/list', 'resources', listResources())
  addToList('resources/templates/list', 'resourceTemplates', [
    { uriTemplate: 'test://template/{id}/data', name: 'template', mimeType: 'application/json' },
  ])
  addToList('prompts/list', 'prompts', listPrompts())
  const readArguments = ({ arguments: args }: Arguments): Arguments => (args ?? {}) as Arguments
  extend('tools/call', (params, context) => TOOLS[String(params.name)]?.answer(readArguments(params), context))
  extend('prompts/get', (params, context) => PROMPTS[String(params.name)]?.answer(readArguments(params), context))
  extend('resources/read', ({ uri }) => {
    const found = findResource(String(uri))
    return found === undefined ? undefined : { contents: [{ uri, ...found }] }
  })
  // A request of its own answers without a session, and knows no subscriptions.
  for (const method of ['resources/subscribe', 'resources/unsubscribe'])
    if (handlers.has(method)) extend(method, ({ uri }) => (findResource(String(uri)) === undefined ? undefined : {}))
  extend('completion/complete', () => ({ completion: { values: ['test'], total: 1, hasMore: false } }))
  extend('logging/setLevel', () => ({}))
}

function listTools(): readonly unknown[] {
  return Object.entries(TOOLS).map(([name, { schema }]) => ({
    name,
    description: `Is there for the conformance suite.`,
    inputSchema: schema ?? NO_ARGUMENTS,
  }))
}

function listResources(): readonly unknown[] {
  return Object.entries(RESOURCES).map(([uri, { mimeType }]) => ({ uri, name: uri, mimeType }))
}

function listPrompts(): readonly unknown[] {
  return Object.entries(PROMPTS).map(([name, { parameters = [] }]) => ({
    name,
    description: 'Is there for the conformance suite.',
    arguments: parameters.map((parameter) => ({ name: parameter, description: 'Any text.', required: true })),
  }))
}
