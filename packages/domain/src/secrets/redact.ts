import { secretReference } from './secret-reference.ts'
import { type Spelling, spellingsOf, type Unit } from './secret-spellings.ts'

export type Secret = { name: string; value: string }

/** Puts `{{ secrets.NAME }}` where the value of a secret shows, however it is spelled. */
export type Redactor = {
  text(text: string): string
  /**
   * @param isCut - Whether the bytes end before the text that they are of does: the beginning of a value at their very
   * end is left out then.
   */
  bytes(bytes: Uint8Array, isCut: boolean): Buffer
}

/** Makes a redactor for some secrets. */
export function createRedactor(secrets: readonly Secret[]): Redactor {
  const patterns = byFirstCharacter(
    secrets.flatMap(({ name, value }) =>
      spellingsOf(value).map(spelling => ({ ...spelling, put: secretReference(name) })),
    ),
  )
  return {
    text(text) {
      // Whoever read these characters may have taken each byte for one, or have decoded them.
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
/** The patterns that a byte may be the first of. */
type Patterns = ReadonlyArray<readonly Pattern[]>
type Match = { start: number; end: number; put: string }

// A text can be made to look like a value again and again, which would take the product of their lengths.
const freeSteps = 100_000
const stepsPerCharacter = 8

// `text` has a character for each byte, and so have the patterns.
function redact(text: string, patterns: Patterns, isCut: boolean): string {
  const work = { stepsLeft: freeSteps + text.length * stepsPerCharacter }
  let redacted = ''
  let done = 0
  for (let at = 0; at < text.length; at++) {
    const candidates = patterns[text.charCodeAt(at)] ?? []
    if (candidates.length === 0) continue
    const match = longestMatch(text, at, candidates, isCut, work)
    if (work.stepsLeft < 0) return candidates[0]?.put ?? ''
    if (!match) continue
    redacted += text.slice(done, Math.max(done, match.start)) + match.put
    done = match.end
    at = done - 1
  }
  return redacted + text.slice(done)
}

type Work = { stepsLeft: number }

function longestMatch(
  text: string,
  at: number,
  candidates: readonly Pattern[],
  isCut: boolean,
  work: Work,
): Match | null {
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

/** Where the units end that begin at a place; whether the text ends in the middle of them; null when they do not stand there. */
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

// Each level of JSON doubles the back-slashes of the level within, so one stands for any number of them.
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
