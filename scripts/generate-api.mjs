// Writes the types of the REST API for the dashboard and the clients, from the built table of routes.
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { renderApiTypes } from './api-types.mjs'
import { ROOT } from './prepare.mjs'
import { renderPython, renderPythonTools, renderTypeScript } from './sdk-types.mjs'

const { openApi } = await import('../dist/http/openapi.js')
const { DESCRIBED } = await import('../dist/http/routes/all.js')
const { listToolSchemas } = await import('../dist/mcp/tool-schemas.js')
const [document, tools] = [openApi(DESCRIBED), listToolSchemas()]
const PYTHON = 'python/src/orchestrator_agent_sdk'

const FILES = {
  'dashboard/src/api/schema.d.ts': renderApiTypes(document),
  'sdk/typescript/src/api.ts': renderTypeScript(document, tools),
  [`${PYTHON}/types.py`]: renderPython(document, tools),
  [`${PYTHON}/_tools.py`]: renderPythonTools(tools),
}
for (const [path, text] of Object.entries(FILES)) {
  mkdirSync(dirname(join(ROOT, path)), { recursive: true })
  writeFileSync(join(ROOT, path), text)
}
