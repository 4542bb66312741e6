/** Says what keeps a text from being JSON, and in which line; null when nothing does. */
export function checkJson(text: string): string | null {
  try {
    JSON.parse(text)
    return null
  } catch (error) {
    const message = error instanceof Error ? error.message : ''
    const position = /position (\d+)/.exec(message)?.[1]
    const atEnd = /end of JSON/i.test(message)
    if (position === undefined && !atEnd) return 'This is not JSON. Texts and names stand in "double quotes".'
    if (atEnd) return 'This JSON is not finished: a bracket, a brace or a quote is missing at its end.'
    const before = text.slice(0, Number(position)).split('\n')
    const column = (before.at(-1)?.length ?? 0) + 1
    return `This is not JSON: look at line ${before.length}, column ${column}.`
  }
}
