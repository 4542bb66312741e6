const form =
  /^(?!ff)[0-9a-f]{2}-(?!0{32})(?<traceId>[0-9a-f]{32})-(?!0{16})(?<spanId>[0-9a-f]{16})-(?<flags>[0-9a-f]{2})(?<more>-.*)?$/

/** Normalises a `traceparent` header to this version of the standard; returns null when it is invalid. */
export function readTraceparent(header: unknown): string | null {
  const context = typeof header === 'string' && header.length <= 200 ? parseTraceparent(header) : null
  return context && `00-${context.traceId}-${context.spanId}-0${context.flags}`
}

/** Parses a `traceparent`, without the additions of later versions; returns null when it is invalid. */
export function parseTraceparent(header: string): { traceId: string; spanId: string; flags: number } | null {
  const { traceId, spanId, flags, more } = form.exec(header)?.groups ?? {}
  if (!traceId || !spanId || !flags || (more && header.startsWith('00'))) return null
  return { traceId, spanId, flags: Number.parseInt(flags, 16) & 1 }
}
