const timeoutMs = 15_000

/** Sends a request to the API, within 15 s. */
export async function call(url: string, method: string, path: string, headers: HeadersInit, body?: unknown) {
  const response = await fetch(url + path, {
    method,
    headers: { ...headers, ...(body ? { 'content-type': 'application/json' } : {}) },
    ...(body ? { body: JSON.stringify(body) } : {}),
    signal: AbortSignal.timeout(timeoutMs),
  })
  return { status: response.status, text: await response.text() }
}
