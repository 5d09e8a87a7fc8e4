/** A JSON value: the type of artifacts, evidence, tool arguments and schemas. */
export type Json = null | boolean | number | string | readonly Json[] | JsonObject
export type JsonObject = { readonly [key: string]: Json }
