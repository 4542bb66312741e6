/** The response of an endpoint: a value as JSON, a text, or pieces of text as they become available. */
export type Reply = {
  status: number
  headers?: Record<string, string | string[]>
  body?: unknown
  text?: string
  /** Ended early when the caller disconnects. */
  pieces?: AsyncIterable<string>
}

export function ok(body: unknown): Reply {
  return { status: 200, body }
}

export function created(location: string, body: unknown): Reply {
  return { status: 201, body, headers: { Location: location } }
}

export function accepted(body: unknown, headers: Record<string, string> = {}): Reply {
  return { status: 202, body, headers }
}

export function noContent(): Reply {
  return { status: 204 }
}

/** Returns a text of another type than JSON. */
export function text(type: string, content: string, headers: Record<string, string> = {}): Reply {
  return { status: 200, text: content, headers: { 'Content-Type': `${type}; charset=utf-8`, ...headers } }
}
