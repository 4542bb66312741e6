/** Returns the host of a URL with its port, as the API compares it. */
export function hostOf(url: string): string {
  return (/^[^:]+:\/\/([^/?#]+)/.exec(url)?.[1] ?? url).toLowerCase()
}
