/** Returns an API path with encoded parts. Throws for a part that would change the path, such as an empty id. */
export function path(texts: TemplateStringsArray, ...parts: readonly string[]): string {
  return texts.reduce((before, text, i) => before + encodePart(parts[i - 1]) + text)
}

function encodePart(part: unknown): string {
  if (typeof part !== 'string' || /^\.{0,2}$/.test(part)) {
    throw new TypeError(`An id must be text such as task_01jd..., not ${JSON.stringify(part)}.`)
  }
  return encodeURIComponent(part)
}
