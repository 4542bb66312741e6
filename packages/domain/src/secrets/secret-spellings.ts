/** The ways in which one piece of a value may be written, as bytes (a character for each). */
export type Unit = readonly string[]

/**
 * A value as a sequence of pieces. `before` and `after` tell that the character on that side holds bits of the value and
 * bits of something else, as base64 does where the value does not begin with one of its characters.
 */
export type Spelling = { units: readonly Unit[]; before: boolean; after: boolean }

/**
 * The ways in which a value may be echoed: as it is, percent-encoded, escaped in JSON (also in JSON within JSON) or in HTML,
 * or any mixture of these; in base64 of either alphabet wherever it begins; in hex.
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

// One character, or some back-slashes in a row: a text in which they are escaped has more of them.
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
    // A header's value goes out, and may come back, in Latin-1.
    ...(/^[\x80-\xff]$/.test(piece) ? [piece] : []),
  ]
}

function bothCases(text: string): string[] {
  const upper = text.replace(/[a-f]/g, digit => digit.toUpperCase())
  return upper === text ? [text] : [text, upper]
}

// The characters that hold nothing but bits of the value, when `offset` bytes of something else come before it.
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
