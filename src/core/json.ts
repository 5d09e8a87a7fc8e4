/** A JSON value: what artifacts, evidence, tool arguments and schemas are made of. */
export type Json = null | boolean | number | string | readonly Json[] | JsonObject
export type JsonObject = { readonly [key: string]: Json }
