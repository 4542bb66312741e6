import { closeBrace, closeBracket, colon, endOfJsonString, openBrace, openBracket, quote } from './json-string.ts'

export type JsonLimits = {
  /** The nesting depth of arrays and objects: `[]` has depth 1. */
  maxDepth: number
  /** Members of all objects together. */
  maxKeys: number
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

// Counts brackets and colons outside of strings. Wrong counts for invalid JSON do no harm, because it is refused anyway.
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
