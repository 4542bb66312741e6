export type HeaderLines = { headers: Record<string, string> } | { fault: string }

/** Reads headers that are written one to a line, as in a request. */
export function readHeaderLines(text: string): HeaderLines {
  const headers: Record<string, string> = {}
  for (const [index, line] of text.split('\n').entries()) {
    if (line.trim() === '') continue
    const [, name, value = ''] = /^\s*([^:\s]+)\s*:(.*)$/.exec(line) ?? []
    if (name === undefined) return { fault: `Line ${index + 1} is not a header: write a name, a colon and a value.` }
    if (Object.keys(headers).some(other => other.toLowerCase() === name.toLowerCase())) {
      return { fault: `${name} is there twice.` }
    }
    headers[name] = value.trim()
  }
  return { headers }
}

/** The inverse. */
export function writeHeaderLines(headers: Readonly<Record<string, string>>): string {
  return Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}`)
    .join('\n')
}
