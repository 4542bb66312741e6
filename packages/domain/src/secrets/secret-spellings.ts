/** The spellings of one piece of a value, as bytes (one character each). */
export type Unit = readonly string[]

/**
 * A value as a sequence of pieces. `before` and `after` are true when the adjacent character on that side also holds bits of
 * the value, as in base64 when the value does not start at a character boundary.
 */
export type Spelling = { units: readonly Unit[]; before: boolean; after: boolean }

/**
 * Returns the ways in which a response may echo a value: as is, percent-encoded, escaped in (nested) JSON or HTML, or any
 * mixture of these; in base64 of either alphabet at any offset; in hex.
 */
export function spellingsOf(value: string): Spelling[] {
  const bytes = Buffer.from(value)
  return [
    { units: Array.from(value.match(/\\+|[^\\]/gu) ?? [], plainUnit), before: false, after: false },
    ...[0, 1, 2].map(offset => base64Spelling(bytes, offset)),
    { units: Array.from(bytes.toString('hex'), digit => [digit, digit.toUpperCase()]), before: false, after: false },
  ]
}

const shortEscapes: Readonly<Record<string, string>> = {
  '"': '\\"',
  '/': '\\/',
  '\b': '\\b',
  '\f': '\\f',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
}

const inHtml: Readonly<Record<string, Unit>> = {
  '&': ['&amp;', '&#38;', '&#x26;'],
  '<': ['&lt;', '&#60;', '&#x3c;', '&#x3C;'],
  '>': ['&gt;', '&#62;', '&#x3e;', '&#x3E;'],
  '"': ['&quot;', '&#34;', '&#x22;'],
  "'": ['&apos;', '&#39;', '&#x27;'],
}

const known = new Map<string, Unit>()

// One character, or a run of backslashes, of which an escaped text has more.
function plainUnit(piece: string): Unit {
  const spellings = known.get(piece) ?? spell(piece)
  if (known.size < 10_000) known.set(piece, spellings)
  return spellings
}

function spell(piece: string): Unit {
  const bytes = Buffer.from(piece)
  const short = shortEscapes[piece]
  return [
    bytes.toString('latin1'),
    ...bothCases(bytes.toString('hex').replace(/../g, '%$&')),
    ...bothCases(piece.replace(/[\0-\uffff]/g, unit => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)),
    ...(short === undefined ? [] : [short]),
    ...(piece === ' ' ? ['+'] : []),
    ...(inHtml[piece] ?? []),
    // Header values are sent, and may be echoed, in Latin-1.
    ...(/^[\x80-\xff]$/.test(piece) ? [piece] : []),
  ]
}

function bothCases(text: string): string[] {
  const upper = text.replace(/[a-f]/g, digit => digit.toUpperCase())
  return upper === text ? [text] : [text, upper]
}

// Returns the characters that hold only bits of the value, when `offset` other bytes precede it.
function base64Spelling(bytes: Buffer, offset: number): Spelling {
  const text = Buffer.concat([Buffer.alloc(offset), bytes]).toString('base64')
  const firstBit = offset * 8
  const endBit = firstBit + bytes.length * 8
  const characters = text.slice(Math.ceil(firstBit / 6), Math.floor(endBit / 6))
  const units = Array.from(characters, character => base64Units[character] ?? [character])
  return { units, before: firstBit % 6 !== 0, after: endBit % 6 !== 0 }
}

const base64Units: Readonly<Record<string, Unit>> = {
  '+': ['+', '-', '%2B', '%2b', '\\u002b', '\\u002B'],
  '/': ['/', '_', '%2F', '%2f', '\\/', '\\u002f', '\\u002F'],
}
