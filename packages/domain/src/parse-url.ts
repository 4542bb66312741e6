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

/**
 * Returns the host and port that a URL or its origin names, in one spelling. Text that is no URL before its path, such as
 * one with a reference to a secret, is its own host.
 */
export function hostOf(url: string): string {
  const origin = /^[^/]*\/\/[^/?]*/.exec(url)?.[0] ?? url
  return parseUrl(origin)?.host ?? origin
}
