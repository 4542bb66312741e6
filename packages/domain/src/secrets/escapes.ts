import { decodeHTML } from 'entities/decode'

/**
 * What the bytes at a position may stand for, and where they end. A token below 256 is a byte. Any other is a character that
 * an escape names: its code point plus 256.
 */
export type Reading = { token: number; end: number }

/** The readings at a position, and whether the text ends within an escape that may start there. */
export type Readings = { readings: readonly Reading[]; isCut: boolean }

export type Reader = (at: number) => Readings

/** Returns the token of a character that an escape names. */
export function tokenOf(codePoint: number): number {
  return codePoint < 0x80 ? codePoint : codePoint + 256
}

/** The token of `&fjlig;`: the two letters "fj". PHP writes it into keys in base64. */
export const fjToken = tokenOf(0x110000)

// For example, JSON in JSON in HTML.
const maxNesting = 3

// Of each level. A search goes forward, and looks ahead by the length of an escape: what it needs again is read again.
const maxKnown = 256

/** Limits the time that a crafted text takes. */
export type Work = { stepsLeft: number }

/**
 * Returns a reader of a text that has one character per byte. At each position it reads the byte itself, and what the escapes
 * of URLs, HTML, style sheets, JSON, programming languages, shells, SQL, CSV and quoted-printable stand for, also nested in
 * each other.
 */
export function readEscapes(text: string, work: Work): Reader {
  const end: Readings = { readings: [], isCut: true }
  let read: Reader = at => {
    if (at >= text.length) return end
    return { readings: [{ token: text.charCodeAt(at), end: at + 1 }], isCut: false }
  }
  for (let level = 0; level < maxNesting; level++) read = decodeEscapes(text, read, work)
  return read
}

function decodeEscapes(text: string, read: Reader, work: Work): Reader {
  const known = new Map<number, Readings>()
  const runs: Runs = new Map()
  return at => {
    if (!mayBeEscape(text, at)) return read(at) // nearly always
    const before = known.get(at)
    if (before !== undefined) return before
    const readings = new Escapes(read, work, runs).at(at)
    if (known.size >= maxKnown) known.clear()
    known.set(at, readings)
    return readings
  }
}

function mayBeEscape(text: string, at: number): boolean {
  const byte = text.charCodeAt(at)
  if (rules[byte] === undefined) return false
  const next = followers[byte]
  const follower = text.charCodeAt(at + 1)
  return next === undefined || Number.isNaN(follower) || rules[follower] !== undefined || next.has(follower)
}

/** The runs of backslashes by the positions in them: where each backslash ends, and the index of the position. */
type Runs = Map<number, { chain: number[]; index: number }>

/** Collects the readings of one position. */
class Escapes implements Readings {
  readonly #read: Reader
  readonly #work: Work
  readonly #runs: Runs
  readonly readings: Reading[] = []
  isCut = false

  constructor(read: Reader, work: Work, runs: Runs) {
    this.#read = read
    this.#work = work
    this.#runs = runs
  }

  at(position: number): Readings {
    const below = this.next(position)
    for (const { token, end } of below) this.add(token, end)
    for (const { token, end } of below) rules[token]?.(this, end)
    return { readings: this.readings, isCut: this.isCut }
  }

  add(token: number, end: number): void {
    if (!this.readings.some(known => known.token === token && known.end === end)) this.readings.push({ token, end })
  }

  next(at: number): readonly Reading[] {
    this.#work.stepsLeft--
    if (this.#work.stepsLeft < 0) return []
    const { readings, isCut } = this.#read(at)
    if (isCut) this.isCut = true
    return readings
  }

  /** Returns where a literal ends that starts at a position. */
  follow(from: number, literal: string): number[] {
    let places = [from]
    for (let i = 0; i < literal.length && places.length > 0; i++) {
      const ends: number[] = []
      for (const place of places) {
        for (const { token, end } of this.next(place)) {
          if (token === literal.charCodeAt(i) && !ends.includes(end)) ends.push(end)
        }
      }
      places = ends
    }
    return places
  }

  /** Returns where up to 32 backslashes end. Positions of one run share a chain, so a long run is read once. */
  endOfBackslashes(from: number): number {
    if (this.#runs.size >= maxKnown) this.#runs.clear()
    const { chain, index } = this.#runs.get(from) ?? { chain: [from], index: 0 }
    while (chain.length <= index + maxBackslashes) {
      const [end] = this.follow(chain[chain.length - 1] ?? from, '\\')
      if (end === undefined) break
      this.#runs.set(end, { chain, index: chain.length })
      chain.push(end)
    }
    return chain[Math.min(index + maxBackslashes, chain.length - 1)] ?? from
  }

  /** Returns the numbers of `min` to `max` digits that start at a position, as tokens. */
  numbers(from: number, radix: number, min: number, max: number): Reading[] {
    const all: Reading[] = []
    let numbers: Reading[] = [{ token: 0, end: from }]
    for (let count = 1; count <= max && numbers.length > 0; count++) {
      numbers = numbers.flatMap(({ token: number, end }) =>
        this.next(end).flatMap(({ token, end }) => {
          const digit = token < 0x80 ? Number.parseInt(String.fromCharCode(token), radix) : Number.NaN
          return Number.isNaN(digit) ? [] : [{ token: number * radix + digit, end }]
        }),
      )
      if (count >= min) all.push(...numbers)
    }
    return all
  }
}

type Rule = (found: Escapes, at: number) => void

/** The escapes by their first byte. Each rule gets the position after it. */
const rules: Readonly<Record<number, Rule>> = Object.fromEntries(
  Object.entries<Rule>({
    '%': readPercent,
    '=': readQuotedPrintable,
    '&': readEntity,
    '?': readWordEnd,
    '\\': readBackslash,
    '+': (found, at) => found.add(0x20, at), // a form
    "'": (found, at) => readQuotes(found, at, "'", ["'", `\\''`, `"'"'`]),
    '"': (found, at) => readQuotes(found, at, '"', ['"', `'"'"`]),
  }).map(([lead, rule]) => [lead.charCodeAt(0), rule]),
)

const hexDigits = codesOf('0123456789abcdefABCDEF')

/** The bytes after the start of an escape, where only some can follow; each may be escaped itself. */
const followers: Readonly<Record<number, ReadonlySet<number>>> = Object.fromEntries(
  Object.entries({
    '%': new Set([...hexDigits, 0x75]),
    '=': new Set([...hexDigits, 0x0d, 0x0a]),
    '?': codesOf('='),
    "'": codesOf(''),
    '"': codesOf(''),
  }).map(([lead, next]) => [lead.charCodeAt(0), next]),
)

function codesOf(characters: string): Set<number> {
  return new Set(Array.from(characters, character => character.charCodeAt(0)))
}

function readByte(found: Escapes, at: number): void {
  for (const { token, end } of found.numbers(at, 16, 2, 2)) found.add(token, end)
}

function readPercent(found: Escapes, at: number): void {
  readByte(found, at)
  for (const start of found.follow(at, 'u')) readUnits(found, start, '%u') // the function `escape` of JavaScript
}

// A long header of a mail consists of several encoded words.
function readWordEnd(found: Escapes, at: number): void {
  for (const gap of ['= =', '=\r\n =', '=\n =']) {
    for (const start of ['?utf-8?q?', '?UTF-8?Q?'].flatMap(word => found.follow(at, gap + word))) {
      for (const { token, end } of found.next(start)) found.add(token, end)
    }
  }
}

function readQuotedPrintable(found: Escapes, at: number): void {
  readByte(found, at)
  for (const lineEnd of ['\r\n', '\n']) {
    for (const start of found.follow(at, lineEnd)) for (const { token, end } of found.next(start)) found.add(token, end)
  }
}

function readQuotes(found: Escapes, at: number, quote: string, rests: readonly string[]): void {
  for (const rest of rests) for (const end of found.follow(at, rest)) found.add(quote.charCodeAt(0), end)
}

function readEntity(found: Escapes, at: number): void {
  for (const start of found.follow(at, '#')) {
    const hexStarts = ['x', 'X'].flatMap(x => found.follow(start, x))
    const numbers = [found.numbers(start, 10, 1, 9), ...hexStarts.map(hex => found.numbers(hex, 16, 1, 8))]
    for (const { token, end } of numbers.flat()) addEntity(found, token, end)
  }
  let name = ''
  for (let end = at; name.length < maxNameLength; ) {
    const letter = found.next(end).find(({ token }) => token < 0x80 && /\w/.test(String.fromCharCode(token)))
    if (!letter) break
    name += String.fromCharCode(letter.token)
    end = letter.end
    const codePoint = codePointOf(name)
    if (codePoint !== null) addEntity(found, codePoint, end)
  }
}

// Browsers also read entities without a semicolon.
function addEntity(found: Escapes, codePoint: number, at: number): void {
  if (codePoint > 0x110000) return
  for (const end of [at, ...found.follow(at, ';')]) found.add(tokenOf(codePoint), end)
}

const maxNameLength = 31
const codePoints = new Map<string, number | null>()

function codePointOf(name: string): number | null {
  const known = codePoints.get(name)
  if (known !== undefined) return known
  const [character = '', ...more] = decodeHTML(`&${name};`)
  const single = more.length === 0 ? (character.codePointAt(0) ?? null) : null
  const codePoint = name === 'fjlig' ? 0x110000 : single
  if (codePoints.size < 10_000) codePoints.set(name, codePoint)
  return codePoint
}

const controls: Readonly<Record<string, number>> = { a: 7, b: 8, t: 9, n: 10, v: 11, f: 12, r: 13, e: 27 }

// Five levels of JSON.
const maxBackslashes = 32

// Each level of nesting doubles the backslashes of the level within, so one matches any number of them.
function readBackslash(found: Escapes, at: number): void {
  for (const start of new Set([at, found.endOfBackslashes(at)])) {
    for (const { token, end } of found.next(start)) {
      const letter = String.fromCharCode(token)
      found.add(controls[letter] ?? token, end)
      if (letter === 'u') readUnits(found, end, '\\u')
      if (letter === 'U')
        for (const number of found.numbers(end, 16, 8, 8)) found.add(tokenOf(number.token), number.end)
      if (letter === 'x') {
        readByte(found, end)
        for (const number of found.numbers(end, 16, 2, 2)) found.add(tokenOf(number.token), number.end)
      }
    }
    for (const { token, end } of found.numbers(start, 8, 3, 3)) found.add(token & 0xff, end)
    for (const { token, end } of found.numbers(start, 16, 1, 6)) readStyle(found, token, end)
  }
}

// In style sheets one space ends the number.
function readStyle(found: Escapes, codePoint: number, at: number): void {
  if (codePoint > 0x10ffff) return
  for (const end of [at, ...found.follow(at, ' ')]) found.add(tokenOf(codePoint), end)
}

/** @param mark - What begins the second half of a pair of surrogates. */
function readUnits(found: Escapes, at: number, mark: string): void {
  for (const high of found.numbers(at, 16, 4, 4)) {
    found.add(tokenOf(high.token), high.end)
    if (high.token < 0xd800 || high.token > 0xdbff) continue
    for (const start of found.follow(high.end, mark)) {
      for (const low of found.numbers(start, 16, 4, 4)) {
        const text = String.fromCharCode(high.token, low.token)
        found.add(tokenOf(text.codePointAt(0) ?? 0), low.end)
      }
    }
  }
}
