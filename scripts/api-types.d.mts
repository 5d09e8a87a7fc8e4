/** The content of `dashboard/src/api/schema.d.ts` for an OpenAPI document. */
export function renderApiTypes(document: object): string
