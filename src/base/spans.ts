/** What a span says about its work. Names and numbers only: no texts of tasks, arguments or secrets. */
export type SpanAttributes = Readonly<Record<string, string | number | boolean>>

interface SpanOptions<T> {
  readonly attributes?: SpanAttributes
  /** Attributes that are known when the work is done. */
  readonly onResult?: (result: T) => SpanAttributes
  /** The `traceparent` header of the caller: the span continues its trace. */
  readonly parent?: string | undefined
}

/** Runs work in a span. Spans that are started inside of the work belong to it. */
export type SpanRunner = <T>(name: string, options: SpanOptions<T>, work: () => Promise<T>) => Promise<T>

let runner: SpanRunner | null = null

/** Set once, by the program, if telemetry is configured. */
export function useSpans(run: SpanRunner | null): void {
  runner = run
}

/** Runs work in a span, or alone where telemetry is off. */
export function runInSpan<T>(name: string, options: SpanOptions<T>, work: () => Promise<T>): Promise<T> {
  return runner === null ? work() : runner(name, options, work)
}
