// Deeper ones would consist of blanks: a body of 256 KiB can hold 131,000 brackets.
const mostDepth = 200
// Strings, structure, and what is neither: numbers and words.
const token = /"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g

/**
 * Indents a JSON text by two, token by token: long numbers, repeated names and escapes stay as they were received, which
 * parsing and writing would change. Null when the text is not JSON, or nested too deeply to be read.
 */
export function indentJson(text: string): string | null {
  if (!isJson(text)) return null
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
      if (depth > mostDepth) return null
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

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false // shown as it is
  }
}
