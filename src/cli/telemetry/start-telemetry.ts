import { useSpans } from '../../base/spans.js'
import { readProgramVersion } from '../version.js'

const VARIABLES = [
  'OTEL_EXPORTER_OTLP_ENDPOINT',
  'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT',
  'OTEL_EXPORTER_OTLP_METRICS_ENDPOINT',
] as const

/**
 * Sends traces and metrics over OTLP, if an endpoint is set. The packages are loaded only then: without an endpoint
 * start and memory stay what they are. Gives what ends it.
 */
export async function startTelemetry(environment: NodeJS.ProcessEnv): Promise<() => Promise<void>> {
  const isAsked = VARIABLES.some((name) => (environment[name] ?? '') !== '')
  if (!isAsked || environment.OTEL_SDK_DISABLED === 'true') return async () => undefined
  const { openTelemetry } = await import('./open-telemetry.js')
  const { runInOtelSpan, close } = openTelemetry({ environment, version: readProgramVersion() })
  useSpans(runInOtelSpan)
  return close
}
