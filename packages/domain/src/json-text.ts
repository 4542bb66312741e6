export type JsonLimits = {
  /** The nesting depth of arrays and objects: `[]` has depth 1. */
  maxDepth: number
  /** Members of all objects together. */
  maxKeys: number
}

/** Parses JSON text; returns undefined for any other. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined // the parser's own message does not help
  }
}

export type InspectedJson = { ok: true; value: unknown } | { ok: false; reason: string }

/** Parses untrusted JSON text. The limits are checked before any value is created. */
export function inspectJson(text: string, limits: JsonLimits): InspectedJson {
  const reason = mayExceed(text, limits) ? findExcess(text, limits) : null
  if (reason !== null) return { ok: false, reason }
  try {
    return { ok: true, value: JSON.parse(text) }
  } catch (error) {
    return { ok: false, reason: `The text is not valid JSON${placeOf(error, text)}.` }
  }
}

// Most texts are too short to exceed the number of members, at four characters each, and have too few brackets to exceed the
// depth.
function mayExceed(text: string, { maxDepth, maxKeys }: JsonLimits): boolean {
  return text.length > 4 * maxKeys || countUpTo(maxDepth + 1, text, '{', '[') > maxDepth
}

function countUpTo(limit: number, text: string, ...signs: string[]): number {
  let count = 0
  for (const sign of signs) {
    for (let at = text.indexOf(sign); at !== -1 && count < limit; at = text.indexOf(sign, at + 1)) count++
  }
  return count
}

// Counts brackets and colons outside of strings. For invalid JSON the counts may be wrong, but it is refused anyway.
function findExcess(text: string, { maxDepth, maxKeys }: JsonLimits): string | null {
  let depth = 0
  let keys = 0
  for (let i = 0; i < text.length; i++) {
    switch (text.charCodeAt(i)) {
      case quote:
        i = endOfJsonString(text, i) - 1
        break
      case openBrace:
      case openBracket:
        if (++depth > maxDepth) return `The JSON is nested deeper than ${maxDepth} levels.`
        break
      case closeBrace:
      case closeBracket:
        depth--
        break
      case colon:
        if (++keys > maxKeys) return `The JSON has more than ${maxKeys} object members.`
    }
  }
  return null
}

// The engine's own message quotes the text, so only its position is used, when it has one.
function placeOf(error: unknown, text: string): string {
  const position = / at position (\d+)/.exec(String(error))?.[1]
  if (position === undefined) return ''
  const lines = text.slice(0, Number(position)).split('\n')
  return `: look at line ${lines.length}, column ${(lines.at(-1)?.length ?? 0) + 1}`
}

export type Unstorable = 'the character U+0000' | 'half of a surrogate pair'

const lone: Unstorable = 'half of a surrogate pair'

/**
 * Finds a character, literal or escaped, that PostgreSQL cannot store in a string or key of valid JSON text. Returns null if
 * all can be stored. Two halves of a pair are fine only when both are escaped.
 */
export function findUnstorable(text: string): Unstorable | null {
  if (text.includes('\0')) return 'the character U+0000'
  if (!text.isWellFormed()) return lone
  for (let at = text.indexOf('\\'); at !== -1; at = text.indexOf('\\', at)) {
    const unit = escapedUnit(text, at)
    if (unit === 0) return 'the character U+0000'
    if (isLow(unit)) return lone
    if (isHigh(unit) && !isLow(escapedUnit(text, at + 6))) return lone
    at += isHigh(unit) ? 12 : 2
  }
  return null
}

// The code unit of a \uXXXX; NaN for anything else.
function escapedUnit(text: string, at: number): number {
  const isUnit = text[at] === '\\' && text[at + 1] === 'u'
  return isUnit ? Number.parseInt(text.slice(at + 2, at + 6), 16) : Number.NaN
}

function isHigh(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff
}

function isLow(unit: number): boolean {
  return unit >= 0xdc00 && unit <= 0xdfff
}

/** The index of a value's first character, and the index after its last. */
type Span = { start: number; end: number }

/**
 * Returns the exact text of a member of valid JSON text, so numbers, key order and spelling survive. `path` has the names of
 * members of objects. Of several members with one name the last counts, as in JSON.parse.
 */
export function memberText(text: string, path: readonly string[]): string | undefined {
  const found = findValue(text, path)
  return found && text.slice(found.start, found.end)
}

/**
 * Returns the exact texts of all elements of an array in valid JSON text, in one pass; undefined when there is no array at
 * `path`. See `memberText`.
 */
export function elementTexts(text: string, path: readonly string[]): string[] | undefined {
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

function findValue(text: string, path: readonly string[]): Span | undefined {
  let found: Span | undefined = { start: skipSpace(text, 0), end: text.trimEnd().length }
  for (const name of path) {
    found = findMember(text, found.start, name)
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

/** Returns the index of the first character at or after `start` that is no white space of JSON. */
export function skipSpace(text: string, start: number): number {
  let at = start
  while (isSpace(text.charCodeAt(at))) at++
  return at
}

function isSpace(code: number): boolean {
  return code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09
}

/** The codes of JSON's structural characters. Comparing numbers is several times as fast as comparing strings. */
const quote = 0x22
const comma = 0x2c
const colon = 0x3a
const openBracket = 0x5b
const closeBracket = 0x5d
const openBrace = 0x7b
const closeBrace = 0x7d

/** Returns the index after the string whose opening quote is at `start`; the text's length when the string never ends. */
export function endOfJsonString(text: string, start: number): number {
  let end = text.indexOf('"', start + 1)
  while (end !== -1 && isEscaped(text, end)) end = text.indexOf('"', end + 1)
  return end === -1 ? text.length : end + 1
}

function isEscaped(text: string, index: number): boolean {
  let before = index
  while (text.charCodeAt(before - 1) === 0x5c) before--
  return (index - before) % 2 === 1
}
