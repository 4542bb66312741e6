import { inSlices, type Slices } from '../slices.ts'
import { type Reader, readEscapes, type Work } from './escapes.ts'
import { type Pattern, patternsOf, type Unit } from './secret-patterns.ts'
import { secretReference } from './secret-reference.ts'

/** A value to hide. `put` replaces it. Default: the reference to the secret. */
export type Secret = { name: string; value: string; put?: string }

/** Replaces the values of secrets, however they are escaped, by `{{ secrets.NAME }}`. */
export type Redactor = ReturnType<typeof createRedactor>

/** Returns a redactor for secrets. It searches in slices of time, so a crafted text does not block the event loop. */
export function createRedactor(secrets: readonly Secret[]) {
  // Made when there is something to search: until then, hundreds of calls that wait would keep the forms of their secrets.
  let known: Patterns | null = null
  function* search(text: string, isCut: boolean): Slices<string> {
    known ??= yield* patternsOfAll(secrets)
    return yield* redact(text, known, isCut)
  }
  return {
    async text(text: string): Promise<string> {
      // The reader of these characters may have decoded them, or taken each byte for a character.
      if (/^[\0-\xff]*$/.test(text)) return inSlices(search(text, false))
      const bytes = Buffer.from(text).toString('latin1')
      return Buffer.from(await inSlices(search(bytes, false)), 'latin1').toString()
    },
    /** @param isCut - Whether the bytes are truncated: the start of a value at their end is then removed. */
    async bytes(bytes: Uint8Array, isCut: boolean): Promise<Buffer> {
      const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1')
      return Buffer.from(await inSlices(search(text, isCut)), 'latin1')
    },
  }
}

type NamedPattern = Pattern & { put: string }
/** The patterns by a token with which they may start. */
type Patterns = ReadonlyMap<number, readonly NamedPattern[]>
type Match = { start: number; end: number; put: string }

// A crafted text can resemble a value at every position. Without these limits, it would take O(n * m) steps.
const freeSteps = 100_000
const stepsPerCharacter = 16
// Some tenths of a millisecond.
const stepsAtATime = 256

// `text` has one character per byte.
function* redact(text: string, patterns: Patterns, isCut: boolean): Slices<string> {
  const work = { stepsLeft: freeSteps + text.length * stepsPerCharacter }
  const search = { read: readEscapes(text, work), isCut, work, pauseAt: work.stepsLeft - stepsAtATime }
  const all = [...new Set([...patterns.values()].flat())]
  let redacted = ''
  let done = 0
  for (let at = 0; at < text.length; at++) {
    if (at % stepsAtATime === 0 || isPauseDue(search)) yield
    const { readings, isCut: isEscapeCut } = search.read(at)
    const candidates = isCut && isEscapeCut ? all : readings.flatMap(({ token }) => patterns.get(token) ?? [])
    const match = candidates.length === 0 ? null : yield* findMatch(search, at, candidates, text.length)
    if (work.stepsLeft < 0) return all[0]?.put ?? ''
    if (!match) continue
    redacted += text.slice(done, Math.max(done, match.start)) + match.put
    done = match.end
    at = done - 1
  }
  return redacted + text.slice(done)
}

type Search = { read: Reader; isCut: boolean; work: Work; pauseAt: number }

function isPauseDue(search: Search): boolean {
  if (search.work.stepsLeft > search.pauseAt) return false
  search.pauseAt = search.work.stepsLeft - stepsAtATime
  return true
}

function* findMatch(
  search: Search,
  at: number,
  candidates: readonly NamedPattern[],
  length: number,
): Slices<Match | null> {
  let longest: Match | null = null
  for (const pattern of candidates) {
    const found = yield* endOfMatch(search, at, pattern)
    const isBeginning = found === 'runs out'
    if (found === null || (isBeginning && !search.isCut)) continue
    const end = isBeginning ? length : Math.min(length, found + (pattern.after ? 1 : 0))
    if (longest === null || end > longest.end) {
      longest = { start: pattern.before ? at - 1 : at, end, put: isBeginning ? '' : pattern.put }
    }
  }
  return longest
}

/** Returns where a pattern that starts at an index ends, or whether the text ends within it, or null if it does not match. */
function* endOfMatch(
  search: Search,
  start: number,
  { length, unitAt, mayWrap }: Pattern,
): Slices<number | 'runs out' | null> {
  let places = [start]
  let runsOut = false
  for (let i = 0; i < length; i++) {
    if (search.work.stepsLeft < 0) return null
    if (isPauseDue(search)) yield
    const ends = new Set<number>()
    for (const place of mayWrap ? withoutLineEnds(search.read, places) : places) {
      if (addEnds(search, place, unitAt(i), ends)) runsOut = true
    }
    if (ends.size === 0) return runsOut ? 'runs out' : null
    places = [...ends]
  }
  return Math.max(...places)
}

/** Adds where a unit ends that starts at a place. Returns whether the text ends within it. */
function addEnds({ read, work }: Search, start: number, unit: Unit, ends: Set<number>): boolean {
  let isCut = false
  for (const tokens of unit) {
    let places = [start]
    for (const token of tokens) {
      places = places.flatMap(place => {
        const found = read(place)
        work.stepsLeft -= found.readings.length
        isCut ||= found.isCut
        return found.readings.flatMap(reading => (reading.token === token ? [reading.end] : []))
      })
    }
    for (const place of places) ends.add(place)
  }
  return isCut
}

// Mail wraps base64 into lines.
function withoutLineEnds(read: Reader, places: readonly number[]): number[] {
  const all = new Set(places)
  for (const place of all) {
    for (const { token, end } of read(place).readings) if (token === 0x0a || token === 0x0d) all.add(end)
  }
  return [...all]
}

function* patternsOfAll(secrets: readonly Secret[]): Slices<Patterns> {
  const table = new Map<number, NamedPattern[]>()
  for (const { name, value, put = secretReference(name) } of secrets) {
    yield
    for (const pattern of patternsOf(value)) {
      for (const first of new Set(pattern.unitAt(0).map(([token = -1]) => token))) {
        table.set(first, [...(table.get(first) ?? []), { put, ...pattern }])
      }
    }
  }
  return table
}
