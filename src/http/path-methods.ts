import type { FastifyInstance } from 'fastify'

const PARAMETER = '[^/]{1,128}'

/** Which methods each path takes. The router itself only knows whether a method and a path belong together. */
export class PathMethods {
  readonly #routes: { readonly pattern: RegExp; readonly methods: readonly string[] }[] = []

  /** Call before routes are added. */
  constructor(server: FastifyInstance) {
    server.addHook('onRoute', ({ url, method }) => {
      const pattern = new RegExp(`^${url.replace(/[.]/g, '\\.').replace(/:\w+/g, PARAMETER)}$`)
      this.#routes.push({ pattern, methods: [method].flat() })
    })
  }

  /** The methods of the path of a request, sorted; none for a path that is unknown. */
  find(url: string): readonly string[] {
    const [path = ''] = url.split('?')
    const found = this.#routes.filter(({ pattern }) => pattern.test(path))
    return [...new Set(found.flatMap(({ methods }) => methods))].sort()
  }
}
