import { CODES } from '../core/codes.js'
import { describeCallers } from '../core/identity/permissions.js'
import type { JsonObject } from '../core/json.js'
import { getStatus, isBlockerOnly } from './problem.js'
import type { RouteDescription } from './route.js'

/** The readable reference, generated from the table that serves the requests. */
export function renderDocsPage(routes: readonly RouteDescription[]): string {
  const contents = routes.map(
    (route) =>
      `<li><a href="#${route.id}"><code>${route.method} ${escapeText(route.path)}</code></a> ${escapeText(route.summary)}</li>`,
  )
  return renderPage(
    'Phaselock API',
    `<h1>API reference</h1>
<p>Base address <code>/api/v1</code>. JSON, snake_case. Tokens in <code>Authorization: Bearer …</code>. Problems are RFC 9457 documents; every code is on <a href="/docs/errors">the error page</a>.
Every unsafe call takes <code>Idempotency-Key</code>. Live events: <code>GET /events</code> (server-sent events, resumable with <code>Last-Event-ID</code>).</p>
<ul class="contents">${contents.join('\n')}</ul>
${routes.map(routeSection).join('\n')}`,
  )
}

function formatStatus(code: keyof typeof CODES): string {
  return isBlockerOnly(code) ? 'a blocker in a 200 answer' : String(getStatus(code))
}

export function renderErrorsPage(): string {
  const rows = Object.entries(CODES).map(
    ([code, one]) =>
      `<section id="${code}"><h2><code>${code}</code> <small>${formatStatus(code as keyof typeof CODES)}</small></h2><p>${escapeText(one.title)}.</p><p>${escapeText(one.remedy)}</p></section>`,
  )
  return renderPage('Phaselock errors', `<h1>Error codes</h1>${rows.join('\n')}`)
}

function routeSection(route: RouteDescription): string {
  return `<section id="${route.id}"><h2><code>${route.method} ${escapeText(route.path)}</code></h2>
<p>${escapeText(route.summary)}. For ${describeCallers(route.id)}.</p>
${renderFieldTable('Query', route.query ?? {}, [])}
${renderFieldTable('Body', (route.body?.properties as Record<string, JsonObject> | undefined) ?? {}, (route.body?.required as readonly string[] | undefined) ?? [])}
<p>Answer ${route.success ?? 200}: ${escapeText(route.answer).replace(/`([^`]+)`/g, '<code>$1</code>')}</p></section>`
}

function renderFieldTable(
  title: string,
  fields: Readonly<Record<string, JsonObject>>,
  required: readonly string[],
): string {
  const rows = Object.entries(fields).map(([name, schema]) => {
    const kind =
      schema.enum === undefined
        ? String(schema.type ?? 'any')
        : (schema.enum as readonly unknown[]).map(String).join(' | ')
    return `<tr><td><code>${escapeText(name)}</code>${required.includes(name) ? '' : ' <small>optional</small>'}</td><td>${escapeText(kind)}</td><td>${escapeText(String(schema.description ?? ''))}</td></tr>`
  })
  return rows.length === 0 ? '' : `<table><caption>${title}</caption><tbody>${rows.join('')}</tbody></table>`
}

function renderPage(title: string, body: string): string {
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>${escapeText(title)}</title><link rel="stylesheet" href="/style.css"></head>
<body><header><a href="/">Phaselock</a><nav><a href="/docs">API</a> <a href="/docs/errors">Errors</a></nav></header><main>${body}</main></body></html>`
}

function escapeText(value: string): string {
  return value.replace(/[&<>"']/g, (char) => `&#${char.charCodeAt(0)};`)
}

export const STYLE = `:root{color-scheme:light dark;--ink:#1b1f24;--soft:#57606a;--line:#d0d7de;--paper:#fff;--code:#f3f5f7;--link:#0b5cad}
@media (prefers-color-scheme:dark){:root{--ink:#e6edf3;--soft:#9aa4af;--line:#30363d;--paper:#0d1117;--code:#161b22;--link:#6cb2ff}}
*{box-sizing:border-box}body{margin:0;background:var(--paper);color:var(--ink);font:16px/1.6 system-ui,sans-serif}
header{display:flex;justify-content:space-between;padding:.9rem 1.5rem;border-bottom:1px solid var(--line)}header>a{font-weight:700;color:inherit;text-decoration:none}nav a{margin-left:1rem}
main{max-width:58rem;margin:0 auto;padding:1.5rem}h1{font-size:1.7rem}h2{font-size:1.15rem;margin-top:2rem}a{color:var(--link)}
code{background:var(--code);padding:.1em .35em;border-radius:4px;font:.9em ui-monospace,monospace;overflow-wrap:anywhere}small{color:var(--soft);font-weight:400}
table{border-collapse:collapse;width:100%;margin:.5rem 0}caption{text-align:left;color:var(--soft);font-size:.9rem}td{border-top:1px solid var(--line);padding:.35rem .6rem .35rem 0;vertical-align:top}
section{border-top:1px solid var(--line)}.contents{padding-left:1.1rem}`
