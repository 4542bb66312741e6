import { secretReference } from './secret-reference.ts'
import { type Spelling, spellingsOf, type Unit } from './secret-spellings.ts'

export type Secret = { name: string; value: string }

/** Replaces the values of secrets, in every spelling, by `{{ secrets.NAME }}`. */
export type Redactor = {
  text(text: string): string
  /**
   * @param isCut - Whether the bytes are truncated: the start of a value at their end is then removed.
   */
  bytes(bytes: Uint8Array, isCut: boolean): Buffer
}

/** Returns a redactor for secrets. */
export function createRedactor(secrets: readonly Secret[]): Redactor {
  const patterns = byFirstCharacter(
    secrets.flatMap(({ name, value }) =>
      spellingsOf(value).map(spelling => ({ ...spelling, put: secretReference(name) })),
    ),
  )
  return {
    text(text) {
      // The reader of these characters may have decoded them, or taken each byte for a character.
      if (/^[\0-\xff]*$/.test(text)) return redact(text, patterns, false)
      const bytes = Buffer.from(text).toString('latin1')
      return Buffer.from(redact(bytes, patterns, false), 'latin1').toString()
    },
    bytes(bytes, isCut) {
      const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1')
      return Buffer.from(redact(text, patterns, isCut), 'latin1')
    },
  }
}

type Pattern = Spelling & { put: string }
/** The patterns by their first byte. */
type Patterns = ReadonlyArray<readonly Pattern[]>
type Match = { start: number; end: number; put: string }

// A crafted text can resemble a value at every position, which would take the product of their lengths.
const freeSteps = 100_000
const stepsPerCharacter = 8

// `text` and the patterns have one character per byte.
function redact(text: string, patterns: Patterns, isCut: boolean): string {
  const work = { stepsLeft: freeSteps + text.length * stepsPerCharacter }
  let redacted = ''
  let done = 0
  for (let at = 0; at < text.length; at++) {
    const candidates = patterns[text.charCodeAt(at)] ?? []
    if (candidates.length === 0) continue
    const match = findMatch(text, at, candidates, isCut, work)
    if (work.stepsLeft < 0) return candidates[0]?.put ?? ''
    if (!match) continue
    redacted += text.slice(done, Math.max(done, match.start)) + match.put
    done = match.end
    at = done - 1
  }
  return redacted + text.slice(done)
}

type Work = { stepsLeft: number }

function findMatch(text: string, at: number, candidates: readonly Pattern[], isCut: boolean, work: Work): Match | null {
  let longest: Match | null = null
  for (const { units, before, after, put } of candidates) {
    const found = endOfMatch(text, at, units, work)
    const isBeginning = found === 'runs out'
    if (found === null || (isBeginning && !isCut)) continue
    const end = isBeginning ? text.length : Math.min(text.length, found + (after ? 1 : 0))
    if (longest === null || end > longest.end) {
      longest = { start: before ? at - 1 : at, end, put: isBeginning ? '' : put }
    }
  }
  return longest
}

/** Returns the end of the units that start at an index, or whether the text ends within them; null when they do not match. */
function endOfMatch(text: string, start: number, units: readonly Unit[], work: Work): number | 'runs out' | null {
  let places = [start]
  let runsOut = false
  for (const unit of units) {
    const next: number[] = []
    work.stepsLeft -= places.length
    if (work.stepsLeft < 0) return null
    for (const place of places) {
      for (const spelling of unit) {
        const end = endOfSpelling(text, place, spelling)
        if (end === 'runs out') runsOut = true
        else if (end !== null && !next.includes(end)) next.push(end)
      }
    }
    if (next.length === 0) return runsOut ? 'runs out' : null
    places = next
  }
  return Math.max(...places)
}

// Each level of JSON doubles the backslashes of the level within, so one matches any number of them.
function endOfSpelling(text: string, start: number, spelling: string): number | 'runs out' | null {
  let at = start
  let rest = spelling
  if (spelling.startsWith('\\')) {
    while (text[at] === '\\') at++
    if (at === start) return at === text.length ? 'runs out' : null
    rest = spelling.replace(/^\\+/, '')
  }
  if (text.startsWith(rest, at)) return at + rest.length
  return rest.startsWith(text.slice(at, at + rest.length)) && at + rest.length > text.length ? 'runs out' : null
}

function byFirstCharacter(patterns: readonly Pattern[]): Patterns {
  const table = Array.from({ length: 256 }, () => new Set<Pattern>())
  for (const pattern of patterns) {
    for (const spelling of pattern.units[0] ?? []) table[spelling.charCodeAt(0)]?.add(pattern)
  }
  return table.map(entries => [...entries])
}
