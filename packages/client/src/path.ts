/** A path of the API, whose parts are encoded. Refuses a part that would lead to another path, such as an empty id. */
export function path(texts: TemplateStringsArray, ...parts: readonly string[]): string {
  return texts.reduce((before, text, i) => before + encodePart(parts[i - 1]) + text)
}

function encodePart(part: unknown): string {
  if (typeof part !== 'string' || /^\.{0,2}$/.test(part)) {
    throw new TypeError(`An id is text such as task_01jd..., not ${JSON.stringify(part)}.`)
  }
  return encodeURIComponent(part)
}
