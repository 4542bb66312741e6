import { closeBrace, closeBracket, comma, endOfJsonString, openBrace, openBracket, quote } from './json-string.ts'

/** The index of a value's first character, and the index after its last. */
type Span = { start: number; end: number }

/**
 * Returns the exact text of a member of valid JSON text, so numbers, key order and spelling survive. In `path`, strings
 * select members of objects and numbers elements of arrays. Of several members with one name the last counts, as in
 * JSON.parse.
 */
export function memberText(text: string, path: ReadonlyArray<string | number>): string | undefined {
  const found = findValue(text, path)
  return found && text.slice(found.start, found.end)
}

/**
 * Returns the exact texts of all elements of an array in valid JSON text, in one pass; undefined when there is no array at
 * `path`. See `memberText`.
 */
export function elementTexts(text: string, path: ReadonlyArray<string | number>): string[] | undefined {
  const array = findValue(text, path)
  if (array === undefined || text.charCodeAt(array.start) !== openBracket) return undefined
  const elements: string[] = []
  let at = skipSpace(text, array.start + 1)
  while (at < text.length && text.charCodeAt(at) !== closeBracket) {
    const end = endOfValue(text, at)
    elements.push(text.slice(at, end))
    at = afterComma(text, end)
  }
  return elements
}

function findValue(text: string, path: ReadonlyArray<string | number>): Span | undefined {
  let found: Span | undefined = { start: skipSpace(text, 0), end: text.trimEnd().length }
  for (const step of path) {
    found = typeof step === 'string' ? findMember(text, found.start, step) : findElement(text, found.start, step)
    if (found === undefined) return undefined
  }
  return found
}

function findMember(text: string, object: number, name: string): Span | undefined {
  if (text.charCodeAt(object) !== openBrace) return undefined
  let found: Span | undefined
  let at = skipSpace(text, object + 1)
  while (text.charCodeAt(at) === quote) {
    const keyEnd = endOfJsonString(text, at)
    const start = skipSpace(text, skipSpace(text, keyEnd) + 1)
    const end = endOfValue(text, start)
    if (isKey(text, at, keyEnd, name)) found = { start, end }
    at = afterComma(text, end)
  }
  return found
}

function findElement(text: string, array: number, index: number): Span | undefined {
  if (text.charCodeAt(array) !== openBracket) return undefined
  let start = skipSpace(text, array + 1)
  for (let i = 0; start < text.length && text.charCodeAt(start) !== closeBracket; i++) {
    const end = endOfValue(text, start)
    if (i === index) return { start, end }
    start = afterComma(text, end)
  }
  return undefined
}

function isKey(text: string, start: number, end: number, name: string): boolean {
  const key = text.slice(start + 1, end - 1)
  return key.includes('\\') ? JSON.parse(`"${key}"`) === name : key === name
}

// Returns the index of the next member or element, or of the closing bracket.
function afterComma(text: string, end: number): number {
  const at = skipSpace(text, end)
  return text.charCodeAt(at) === comma ? skipSpace(text, at + 1) : at
}

function endOfValue(text: string, start: number): number {
  const first = text.charCodeAt(start)
  if (first === quote) return endOfJsonString(text, start)
  return first === openBrace || first === openBracket ? endOfContainer(text, start) : endOfScalar(text, start)
}

function endOfContainer(text: string, start: number): number {
  let depth = 0
  for (let i = start; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (code === quote) i = endOfJsonString(text, i) - 1
    else if (code === openBrace || code === openBracket) depth++
    else if ((code === closeBrace || code === closeBracket) && --depth === 0) return i + 1
  }
  return text.length
}

function endOfScalar(text: string, start: number): number {
  let end = start
  while (end < text.length && !isDelimiter(text.charCodeAt(end))) end++
  return end
}

function isDelimiter(code: number): boolean {
  return code === comma || code === closeBracket || code === closeBrace || isSpace(code)
}

function skipSpace(text: string, start: number): number {
  let at = start
  while (isSpace(text.charCodeAt(at))) at++
  return at
}

function isSpace(code: number): boolean {
  return code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09
}
