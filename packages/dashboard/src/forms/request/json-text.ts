// A body of 256 KiB can hold 131,000 brackets. Deeper indentation would be mostly spaces.
const maxDepth = 200
// Strings, punctuation, then numbers and literals.
const token = /"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g

/** Returns the error of a JSON text with its line, or null for valid JSON. */
export function checkJson(text: string): string | null {
  try {
    JSON.parse(text)
    return null
  } catch (error) {
    const message = error instanceof Error ? error.message : ''
    const position = /position (\d+)/.exec(message)?.[1]
    const atEnd = /end of JSON/i.test(message)
    if (position === undefined && !atEnd) return 'Invalid JSON. Strings and property names need double quotes.'
    if (atEnd) return 'Incomplete JSON. A closing bracket, brace or quote is missing.'
    const before = text.slice(0, Number(position)).split('\n')
    const column = (before.at(-1)?.length ?? 0) + 1
    return `Invalid JSON at line ${before.length}, column ${column}.`
  }
}

/**
 * Indents a JSON text by two spaces, token by token: parsing and serializing would change long numbers, repeated names
 * and escapes. Returns null when the text is not JSON or is nested too deeply.
 */
export function indentJson(text: string): string | null {
  if (checkJson(text) !== null) return null
  const lines: string[] = []
  let line = ''
  let depth = 0
  const endLine = () => {
    lines.push(line)
    line = '  '.repeat(depth)
  }
  const tokens = text.match(token) ?? []
  for (const [index, one] of tokens.entries()) {
    const next = tokens[index + 1] ?? ''
    if (one === '{' || one === '[') {
      line += one
      if (next === '}' || next === ']') continue
      depth += 1
      if (depth > maxDepth) return null
      endLine()
    } else if (one === '}' || one === ']') {
      if (!'{['.includes(tokens[index - 1] ?? ' ')) {
        depth -= 1
        endLine()
      }
      line += one
    } else if (one === ',') {
      line += one
      endLine()
    } else line += one === ':' ? ': ' : one
  }
  return [...lines, line].join('\n')
}
