import type { Attributes } from '@opentelemetry/api'
import type { Logger } from '../logger.ts'
import { withinMs } from '../within-ms.ts'

type NewSpan = {
  name: string
  kind: 'server' | 'client'
  /** The `traceparent` of the parent span; null starts a trace. */
  parent: string | null
  /** Default: now. */
  startedAt?: Date
  attributes?: Attributes
}

type SpanEnd = { name?: string; attributes?: Attributes; error?: string | null }

export type ProcessTracing = Awaited<ReturnType<typeof openTracing>>
export type Tracing = ReturnType<ProcessTracing['of']>
export type Span = ReturnType<Tracing['start']>

const maxFlushMs = 5_000

/**
 * Loads OpenTelemetry and opens tracing. Only this function loads it, so processes without tracing do not pay for it.
 * OpenTelemetry's own environment variables configure the exporter and the sampling.
 */
export async function openTracing(log: Logger) {
  const [api, sdk, exporter, resources] = await Promise.all([
    import('@opentelemetry/api'),
    import('@opentelemetry/sdk-trace-base'),
    import('@opentelemetry/exporter-trace-otlp-http'),
    import('@opentelemetry/resources'),
  ])
  const ignore = () => {}
  const warn = (detail: string) => log.warn({ detail }, 'tracing.failed')
  const logger = { error: warn, warn, info: ignore, debug: ignore, verbose: ignore }
  api.diag.setLogger(logger, { logLevel: api.DiagLogLevel.ERROR, suppressOverrideMessage: true })
  const processor = new sdk.BatchSpanProcessor(new exporter.OTLPTraceExporter())
  const detected = resources.detectResources({ detectors: [resources.envDetector] })
  const kinds = { server: api.SpanKind.SERVER, client: api.SpanKind.CLIENT }

  return {
    of(role: string) {
      const named = resources.resourceFromAttributes({ 'service.name': `belfry-${role}`, 'process.pid': process.pid })
      const provider = new sdk.BasicTracerProvider({ resource: named.merge(detected), spanProcessors: [processor] })
      const tracer = provider.getTracer('belfry')
      return {
        start({ name, kind, parent, startedAt, attributes = {} }: NewSpan) {
          const options = { kind: kinds[kind], attributes, ...(startedAt ? { startTime: startedAt } : {}) }
          const span = tracer.startSpan(name, options, contextOf(api, parent))
          const { traceId, spanId, traceFlags } = span.spanContext()
          return {
            /** The context for child spans and outgoing requests. */
            traceparent: `00-${traceId}-${spanId}-0${traceFlags & 1}`,
            /** @param end.error - The error code. */
            end({ name: finalName, attributes: more = {}, error }: SpanEnd): void {
              if (finalName !== undefined) span.updateName(finalName)
              span.setAttributes(more)
              if (error) span.setAttribute('error.type', error).setStatus({ code: api.SpanStatusCode.ERROR })
              span.end()
            },
          }
        },
      }
    },
    /** Sends pending spans, for at most five seconds. */
    async close(): Promise<void> {
      await withinMs(maxFlushMs, () => processor.shutdown()).catch(err => log.warn({ err }, 'tracing.failed'))
    },
  }
}

function contextOf(api: typeof import('@opentelemetry/api'), parent: string | null) {
  const [, traceId = '', spanId = '', flags = '00'] = parent?.split('-') ?? []
  if (parent === null) return api.ROOT_CONTEXT
  const context = { traceId, spanId, traceFlags: Number.parseInt(flags, 16), isRemote: true }
  return api.trace.setSpanContext(api.ROOT_CONTEXT, context)
}
