const BODY_BYTES_MAX = 8 * 1024 * 1024

/** A fetch for remote servers: follows no redirect, limits the body, and opens no stream for unsolicited messages. */
export async function fetchBounded(url: string | URL, init: RequestInit = {}): Promise<Response> {
  if ((init.method ?? 'GET') === 'GET') return new Response(null, { status: 405 })
  const response = await fetch(url, { ...init, redirect: 'error' })
  if (response.body === null) return response
  let left = BODY_BYTES_MAX
  const counted = response.body.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        left -= chunk.byteLength
        if (left < 0) controller.error(new Error(`the answer is larger than ${BODY_BYTES_MAX} bytes`))
        else controller.enqueue(chunk)
      },
    }),
  )
  const { status, statusText, headers } = response
  return new Response(counted, { status, statusText, headers })
}
