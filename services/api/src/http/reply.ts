/** What an endpoint answers. */
export type Reply = { status: number; body?: unknown; headers?: Record<string, string> }

export function ok(body: unknown): Reply {
  return { status: 200, body }
}

export function created(location: string, body: unknown): Reply {
  return { status: 201, body, headers: { Location: location } }
}

export function noContent(): Reply {
  return { status: 204 }
}
