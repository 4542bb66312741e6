/**
 * Parses a URL; returns null for other text. `URL.canParse` is not used: after some thousand calls in Node 20 and 22 it
 * refuses URLs with letters beyond ASCII.
 */
export function parseUrl(text: string): URL | null {
  try {
    return new URL(text)
  } catch {
    return null
  }
}
