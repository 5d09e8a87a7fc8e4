import type { Route } from '../route.js'
import { ADMIN_ROUTES } from './admin.js'
import { AGENT_ROUTES } from './agent.js'
import { AUDIT_ROUTES } from './audit.js'
import { TASK_ROUTES } from './tasks.js'

/** Every endpoint below `/api/v1` that takes and gives JSON. */
export const ROUTES: readonly Route[] = [...AGENT_ROUTES, ...TASK_ROUTES, ...ADMIN_ROUTES, ...AUDIT_ROUTES]
