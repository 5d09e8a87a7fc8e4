import {
  type Context,
  context,
  metrics,
  propagation,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import { W3CTraceContextPropagator } from '@opentelemetry/core'
import { OTLPMetricExporter } from '@opentelemetry/exporter-metrics-otlp-http'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { resourceFromAttributes } from '@opentelemetry/resources'
import { MeterProvider, PeriodicExportingMetricReader } from '@opentelemetry/sdk-metrics'
import { BatchSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace'
import type { SpanRunner } from '../../base/spans.js'

const NAME = 'phaselock'
const CLOSE_MS_MAX = 3_000

interface Telemetry {
  readonly runInOtelSpan: SpanRunner
  /** Sends what is left. A collector that does not answer holds nobody up. */
  readonly close: () => Promise<void>
}

/** Opens traces and metrics with the official packages. They read `OTEL_*` themselves: endpoint, headers, sampling. */
export function openTelemetry(options: {
  readonly environment: NodeJS.ProcessEnv
  readonly version: string
}): Telemetry {
  const resource = resourceFromAttributes({
    'service.name': options.environment.OTEL_SERVICE_NAME ?? NAME,
    'service.version': options.version,
    'process.pid': process.pid,
  })
  const tracing = new TracerProvider({
    resource,
    spanProcessors: [new BatchSpanProcessor({ exporter: new OTLPTraceExporter() })],
  })
  const reader = new PeriodicExportingMetricReader({ exporter: new OTLPMetricExporter() })
  const metering = new MeterProvider({ resource, readers: [reader] })
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable())
  propagation.setGlobalPropagator(new W3CTraceContextPropagator())
  trace.setGlobalTracerProvider(tracing)
  metrics.setGlobalMeterProvider(metering)
  return {
    runInOtelSpan: makeRunner(),
    async close() {
      const late = new Promise<void>((resolve) => setTimeout(resolve, CLOSE_MS_MAX).unref())
      await Promise.race([Promise.allSettled([tracing.shutdown(), metering.shutdown()]), late])
    },
  }
}

function makeRunner(): SpanRunner {
  const tracer = trace.getTracer(NAME)
  const durations = metrics.getMeter(NAME).createHistogram('phaselock.operation.duration', {
    description: 'Time that an operation took',
    unit: 's',
  })
  return async (name, { attributes = {}, onResult, parent }, work) => {
    const startedAt = performance.now()
    const kind = parent === undefined ? SpanKind.INTERNAL : SpanKind.SERVER
    const span = tracer.startSpan(
      name,
      { attributes, kind },
      parent === undefined ? context.active() : readParent(parent),
    )
    let outcome = 'ok'
    try {
      const result = await context.with(trace.setSpan(context.active(), span), work)
      if (onResult !== undefined) span.setAttributes(onResult(result))
      return result
    } catch (error) {
      outcome = 'fault'
      // The class alone: a message may quote what was sent.
      span.setStatus({ code: SpanStatusCode.ERROR, message: error instanceof Error ? error.name : 'fault' })
      throw error
    } finally {
      span.end()
      durations.record((performance.now() - startedAt) / 1000, { operation: name, outcome })
    }
  }
}

function readParent(traceparent: string): Context {
  return propagation.extract(ROOT_CONTEXT, { traceparent })
}
