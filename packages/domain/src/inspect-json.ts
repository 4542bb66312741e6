import { endOfJsonString } from './json-string.ts'

export type JsonLimits = {
  /** Arrays and objects within each other: `[]` has depth 1. */
  maxDepth: number
  /** Members of all objects together. */
  maxKeys: number
}

export type InspectedJson = { ok: true; value: unknown } | { ok: false; reason: string }

/** Parses JSON text that comes from outside; the limits are checked before anything is built from it. */
export function inspectJson(text: string, limits: JsonLimits): InspectedJson {
  const reason = findExcess(text, limits)
  if (reason !== null) return { ok: false, reason }
  try {
    return { ok: true, value: JSON.parse(text) }
  } catch (error) {
    return { ok: false, reason: `The text is not valid JSON${placeOf(error, text)}.` }
  }
}

// Looks at brackets and colons outside of strings only. In text that is not JSON they may mean something else, but then
// the text is refused anyway.
function findExcess(text: string, { maxDepth, maxKeys }: JsonLimits): string | null {
  let depth = 0
  let keys = 0
  for (let i = 0; i < text.length; i++) {
    switch (text[i]) {
      case '"':
        i = endOfJsonString(text, i) - 1
        break
      case '{':
      case '[':
        if (++depth > maxDepth) return `The JSON is nested deeper than ${maxDepth} levels.`
        break
      case '}':
      case ']':
        depth--
        break
      case ':':
        if (++keys > maxKeys) return `The JSON has more than ${maxKeys} object members.`
    }
  }
  return null
}

// The engine's own message quotes the text; only the position is taken from it, where it has one.
function placeOf(error: unknown, text: string): string {
  const position = / at position (\d+)/.exec(String(error))?.[1]
  if (position === undefined) return ''
  const lines = text.slice(0, Number(position)).split('\n')
  return `: look at line ${lines.length}, column ${(lines.at(-1)?.length ?? 0) + 1}`
}
