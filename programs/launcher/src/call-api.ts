const timeoutMs = 15_000

type Answer = { status: number; text: string }

/** Sends a POST, and returns the body of its 201; throws on any other status. */
export async function expectCreated(url: string, path: string, body: unknown, headers = {}): Promise<unknown> {
  const { status, text } = await call(url, 'POST', path, headers, body)
  if (status === 201) return JSON.parse(text)
  throw new Error(`POST ${path} failed with ${status}: ${text}`)
}

/** Sends a request to the API, within 15 s. */
export async function call(
  url: string,
  method: string,
  path: string,
  headers: HeadersInit,
  body?: unknown,
): Promise<Answer> {
  const response = await fetch(url + path, {
    method,
    headers: { ...headers, ...(body ? { 'content-type': 'application/json' } : {}) },
    ...(body ? { body: JSON.stringify(body) } : {}),
    signal: AbortSignal.timeout(timeoutMs),
  })
  return { status: response.status, text: await response.text() }
}
