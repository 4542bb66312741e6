export type Unstorable = 'the character U+0000' | 'half of a surrogate pair'

const lone: Unstorable = 'half of a surrogate pair'

/**
 * Finds a character, literal or escaped, that PostgreSQL cannot store in a string or key of valid JSON text; null when there
 * is none. Two halves of a pair are fine only when both are escaped.
 */
export function findUnstorable(text: string): Unstorable | null {
  if (text.includes('\0')) return 'the character U+0000'
  if (/\p{Cs}/u.test(text)) return lone
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
