const form =
  /^(?!ff)[0-9a-f]{2}-(?!0{32})(?<traceId>[0-9a-f]{32})-(?!0{16})(?<spanId>[0-9a-f]{16})-(?<flags>[0-9a-f]{2})(?<more>-.*)?$/

/** A place in a trace, as W3C Trace Context writes it. */
export type TraceContext = { traceId: string; spanId: string; flags: number }

/** Reads a `traceparent` header, and writes it as this version of the standard does; null for one that is not valid. */
export function readTraceparent(header: unknown): string | null {
  const context = typeof header === 'string' && header.length <= 200 ? parseTraceparent(header) : null
  return context && writeTraceparent(context)
}

/** The parts of a `traceparent`; null for one that is not valid. What later versions add is left out. */
export function parseTraceparent(header: string): TraceContext | null {
  const { traceId, spanId, flags, more } = form.exec(header)?.groups ?? {}
  if (!traceId || !spanId || !flags || (more && header.startsWith('00'))) return null
  return { traceId, spanId, flags: Number.parseInt(flags, 16) & 1 }
}

export function writeTraceparent({ traceId, spanId, flags }: TraceContext): string {
  return `00-${traceId}-${spanId}-0${flags & 1}`
}
