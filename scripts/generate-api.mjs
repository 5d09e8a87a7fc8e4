// Writes the types that the dashboard uses for the REST API, from the built table of routes.
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { renderApiTypes } from './api-types.mjs'
import { ROOT } from './prepare.mjs'

const FILE = join(ROOT, 'dashboard/src/api/schema.d.ts')
const { openApi } = await import('../dist/http/openapi.js')
const { DESCRIBED } = await import('../dist/http/routes/all.js')
mkdirSync(dirname(FILE), { recursive: true })
writeFileSync(FILE, renderApiTypes(openApi(DESCRIBED)))
