export function readHeaderLines(text: string): { headers?: Record<string, string>; error?: string } {
  const headers: Record<string, string> = {}
  for (const [index, line] of text.split('\n').entries()) {
    if (line.trim() === '') continue
    const [, name, value = ''] = /^\s*([^:\s]+)\s*:(.*)$/.exec(line) ?? []
    if (name === undefined) return { error: `Line ${index + 1} is not a header. Use “Name: value”.` }
    if (Object.keys(headers).some(other => other.toLowerCase() === name.toLowerCase())) {
      return { error: `${name} appears twice.` }
    }
    headers[name] = value.trim()
  }
  return { headers }
}

export function writeHeaderLines(headers: Readonly<Record<string, string>>): string {
  return Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}`)
    .join('\n')
}
