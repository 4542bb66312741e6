import { fjToken, tokenOf } from './escapes.ts'

/** The forms of one character, each as tokens: see `Reading`. */
export type Unit = ReadonlyArray<readonly number[]>

/**
 * A form in which a response may hold a value. `before` and `after` are true when the adjacent character on that side also
 * holds bits of the value, as in base64 when the value does not start at a character boundary.
 */
export type Pattern = {
  length: number
  /** Units are made when they are compared: the units of all forms of a long value would take megabytes. */
  unitAt: (index: number) => Unit
  before: boolean
  after: boolean
  mayWrap: boolean
}

const minCharacters = 4
// Shorter values would be found in ordinary words.
const minCaselessCharacters = 12

/**
 * Returns the forms of a value: its text, a long one also in other case, hex, base64 at any offset, and base64 of its base64, JSON
 * or percent-encoding.
 */
export function patternsOf(value: string): Pattern[] {
  const distinct = new Set([value, ...inJson(value), encodeURIComponent(value)])
  const once = [...distinct].flatMap(text => inBase64(Buffer.from(text)))
  const twice = once.flatMap(({ text }) => (text.length < minCharacters ? [] : inBase64(Buffer.from(text))))
  const shown = value.match(characters) ?? []
  const whole = { before: false, after: false, mayWrap: false }
  const isCaseless = shown.length >= minCaselessCharacters
  return [
    { length: shown.length, unitAt: index => textUnit(shown[index] ?? '', isCaseless), ...whole },
    patternOf(Buffer.from(value).toString('hex'), hexUnit, whole),
    ...[...once, ...twice].map(({ text, ...ends }) => patternOf(text, base64Unit, { mayWrap: true, ...ends })),
  ]
}

function patternOf(
  text: string,
  unitOf: (character: string) => Unit,
  ends: Omit<Pattern, 'length' | 'unitAt'>,
): Pattern {
  return { length: text.length, unitAt: index => unitOf(text.charAt(index)), ...ends }
}

/** Returns the JSON strings that JavaScript, Python, Go and PHP make of a value, without their quotes. */
function inJson(value: string): string[] {
  const text = JSON.stringify(value).slice(1, -1)
  const ascii = text.replace(/[\x7f-\uffff]/g, unicodeEscape)
  return [text, ascii, text.replace(/[<>&\u2028\u2029]/g, unicodeEscape), ascii.replaceAll('/', '\\/')]
}

function unicodeEscape(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`
}

// The programs that a response comes through may write a line end in another way.
const characters = /\r\n|fj|./gsu
const lineEnds = ['\n', '\r', '\r\n'].flatMap(lineEnd => ['', '<br>', '<br/>', '<br />'].map(tag => tag + lineEnd))
const lineEnd: Unit = lineEnds.map(text => [...Buffer.from(text)])
// Headers of mails have an underscore.
const space: Unit = [[0x20], [0x5f]]

// The characters whose entities, &lang; and &rang;, are others in HTML 5.
const inHtml4 = new Map([
  [0x2329, [0x27e8]],
  [0x232a, [0x27e9]],
])

function textUnit(character: string, isCaseless: boolean): Unit {
  if (/[\r\n]/.test(character)) return lineEnd
  if (character === ' ') return space
  if (character === 'fj') return [[0x66, 0x6a], [fjToken], ...(isCaseless ? [[0x46, 0x4a]] : [])]
  const codePoint = character.codePointAt(0) ?? 0
  if (codePoint < 0x80) return isCaseless && /[a-z]/i.test(character) ? inBothCases(codePoint) : single(codePoint)
  const asToken = [codePoint, ...(inHtml4.get(codePoint) ?? [])].map(one => [tokenOf(one)])
  // Header values are sent, and may be echoed, in Latin-1.
  return [...asToken, [...Buffer.from(character)], ...(codePoint <= 0xff ? [[codePoint]] : [])]
}

function hexUnit(digit: string): Unit {
  return /\d/.test(digit) ? single(digit.charCodeAt(0)) : inBothCases(digit.charCodeAt(0))
}

function inBothCases(letter: number): Unit {
  return [[letter], [letter ^ 0x20]]
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
