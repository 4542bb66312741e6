/** The signing keys of the first workspace, and the port of the development mode; null where another program has it. */
export type QstashFacts = { current: string; next: string; devPort: string | null }

// The token of the development mode is public.
const devToken = 'eyJVc2VySUQiOiJkZWZhdWx0VXNlciIsIlBhc3N3b3JkIjoiZGVmYXVsdFBhc3N3b3JkIn0='
const timeoutMs = 5_000

/**
 * Asks for the keys of the QStash interface. The first request with the public token gives the workspace the public keys.
 * @param devPort - Where the development mode should be served; null where it is off.
 * @returns Null when the interface is not served.
 */
export async function findQstash(url: string, apiKey: string, devPort: string | null): Promise<QstashFacts | null> {
  const isOpen = devPort !== null && (await readKeys(`http://127.0.0.1:${devPort}`, devToken)) !== null
  const keys = (devPort === null ? null : await readKeys(url, devToken)) ?? (await readKeys(url, apiKey))
  return keys && { ...keys, devPort: isOpen ? devPort : null }
}

async function readKeys(url: string, token: string): Promise<{ current: string; next: string } | null> {
  try {
    const signal = AbortSignal.timeout(timeoutMs)
    const response = await fetch(`${url}/v2/keys`, { headers: { Authorization: `Bearer ${token}` }, signal })
    const { current, next } = (await response.json()) as Record<string, unknown>
    return typeof current === 'string' && typeof next === 'string' ? { current, next } : null
  } catch {
    return null
  }
}
