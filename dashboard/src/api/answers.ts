import type { components, paths } from './schema.js'

type Method = 'get' | 'post' | 'patch'

/** Paths of the REST API that have a call with the method. */
export type PathOf<M extends Method> = {
  [P in keyof paths]: paths[P] extends Record<M, { responses: unknown }> ? P : never
}[keyof paths]

type Success = 200 | 201

/** What the server answers to a call, from the OpenAPI document. */
export type AnswerOf<P extends keyof paths, M extends Method> =
  paths[P] extends Record<M, { responses: infer R }>
    ? { [S in keyof R & Success]: R[S] extends { content: { 'application/json': infer A } } ? A : never }[keyof R &
        Success]
    : never

/** A named part of answers. */
export type Schema<N extends keyof components['schemas']> = components['schemas'][N]
