import { tokenOf } from './escapes.ts'

/** The forms of one character, each as tokens: see `Reading`. */
export type Unit = ReadonlyArray<readonly number[]>

/**
 * A form in which a response may hold a value. `before` and `after` are true when the adjacent character on that side also
 * holds bits of the value, as in base64 when the value does not start at a character boundary.
 */
export type Pattern = { units: readonly Unit[]; before: boolean; after: boolean; mayWrap: boolean }

const minCharacters = 4

/** Returns the forms of a value: its text, hex, base64 at any offset, and base64 of its base64, JSON or percent-encoding. */
export function patternsOf(value: string): Pattern[] {
  const encoded = [value, JSON.stringify(value).slice(1, -1), encodeURIComponent(value)].map(text => Buffer.from(text))
  const distinct = encoded.filter((bytes, i) => encoded.findIndex(other => other.equals(bytes)) === i)
  const once = distinct.flatMap(inBase64)
  const twice = once.flatMap(({ text }) => (text.length < minCharacters ? [] : inBase64(Buffer.from(text))))
  return [
    { units: Array.from(value, textUnit), before: false, after: false, mayWrap: false },
    { units: Array.from(Buffer.from(value).toString('hex'), hexUnit), before: false, after: false, mayWrap: false },
    ...[...once, ...twice].map(({ text, ...ends }) => ({
      units: Array.from(text, base64Unit),
      ...ends,
      mayWrap: true,
    })),
  ]
}

function textUnit(character: string): Unit {
  const codePoint = character.codePointAt(0) ?? 0
  if (codePoint < 0x80) return single(codePoint)
  // Header values are sent, and may be echoed, in Latin-1.
  return [[tokenOf(codePoint)], [...Buffer.from(character)], ...(codePoint <= 0xff ? [[codePoint]] : [])]
}

function hexUnit(digit: string): Unit {
  const upper = digit.toUpperCase()
  return upper === digit ? single(digit.charCodeAt(0)) : [[digit.charCodeAt(0)], [upper.charCodeAt(0)]]
}

const units = new Map<string, Unit>([
  ['+', [[0x2b], [0x2d]]],
  ['/', [[0x2f], [0x5f]]],
])

// Either alphabet.
function base64Unit(character: string): Unit {
  return units.get(character) ?? single(character.charCodeAt(0))
}

const singles = Array.from({ length: 0x80 }, (_, byte): Unit => [[byte]])

function single(byte: number): Unit {
  return singles[byte] ?? [[byte]]
}

type Base64 = { text: string; before: boolean; after: boolean }

// Returns the characters that hold only bits of the value, when 0, 1 or 2 other bytes precede it.
function inBase64(bytes: Buffer): Base64[] {
  return [0, 1, 2].map(offset => {
    const text = Buffer.concat([Buffer.alloc(offset), bytes]).toString('base64')
    const firstBit = offset * 8
    const endBit = firstBit + bytes.length * 8
    return {
      text: text.slice(Math.ceil(firstBit / 6), Math.floor(endBit / 6)),
      before: firstBit % 6 !== 0,
      after: endBit % 6 !== 0,
    }
  })
}
