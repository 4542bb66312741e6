/**
 * Reads a URL; null when it is none. Not `URL.canParse`: in Node 20 and 22, once it has been called some thousand times, that
 * says no to what has letters beyond ASCII.
 */
export function parseUrl(text: string): URL | null {
  try {
    return new URL(text)
  } catch {
    return null
  }
}
