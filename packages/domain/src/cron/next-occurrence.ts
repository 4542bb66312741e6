import { countWallClock, matchWallClock } from './match-wall-clock.ts'
import type { CronExpression } from './parse-cron.ts'
import { pieceAt, type ZonePiece } from './zone-pieces.ts'

/**
 * An instant at which an expression fires. `change` says how a change of the clock bears on it: `clock_gap` when `local`
 * did not exist that day, so that it fires as soon as the gap is over; `clock_overlap` when `local` existed twice, of
 * which this is the first.
 */
export type Occurrence = { atMs: number; localMs: number; change: 'clock_gap' | 'clock_overlap' | null }

/** An expression that does not fire within this time counts as one that never does. */
export const cronHorizonYears = 10

const dayMs = 86_400_000
const horizonMs = cronHorizonYears * 366 * dayMs
// Larger changes are corrections of the zone: what they leave out was never a time of the day (cron(8)).
const maxGapMs = 3 * 3_600_000

/**
 * Finds the first instant strictly after another at which an expression fires in a time zone; null when there is none
 * within ten years. Times of the day fire once however the clocks are changed; intervals follow the clocks.
 */
export function nextOccurrence(cron: CronExpression, zone: string, afterMs: number): Occurrence | null {
  const limitMs = afterMs + horizonMs
  let piece = pieceAt(zone, afterMs + 1)
  for (;;) {
    const found = skippedOccurrence(cron, piece, afterMs) ?? occurrenceIn(cron, zone, piece, afterMs)
    if (found) return found.atMs <= limitMs ? found : null
    // Whatever the clocks do, nothing happens until they come near the next reading that matches.
    const endLocalMs = piece.toMs + piece.offsetMs
    const nextLocalMs = matchWallClock(cron, endLocalMs - 2 * dayMs, limitMs + 2 * dayMs)
    if (nextLocalMs === null) return null
    piece = pieceAt(zone, Math.max(piece.toMs, nextLocalMs - 3 * dayMs))
  }
}

/** Counts the instants at which an expression fires in a time zone, from `fromMs` on and before `toMs`. */
export function countInstants(cron: CronExpression, zone: string, fromMs: number, toMs: number): number {
  let count = 0
  for (let atMs = fromMs; atMs < toMs; ) {
    const piece = pieceAt(zone, atMs)
    const isSkipped = skippedOccurrence(cron, piece, atMs - 1) !== null
    // What was skipped fires together with what matches the first minute after the gap.
    const firstMs = isSkipped ? atMs + 1 : atMs
    const firstLocalMs = Math.max(firstMs + piece.offsetMs, newLocalMs(cron, piece))
    count += Number(isSkipped) + countWallClock(cron, firstLocalMs, Math.min(piece.toMs, toMs) + piece.offsetMs)
    atMs = piece.toMs
  }
  return count
}

// What the clocks skipped as this piece began.
function skippedOccurrence(cron: CronExpression, piece: ZonePiece, afterMs: number): Occurrence | null {
  const { fromMs, offsetMs, jumpMs } = piece
  if (cron.followsElapsedTime || jumpMs <= 0 || jumpMs > maxGapMs || fromMs <= afterMs) return null
  const localMs = matchWallClock(cron, fromMs + offsetMs - jumpMs, fromMs + offsetMs)
  return localMs === null ? null : { atMs: fromMs, localMs, change: 'clock_gap' }
}

function occurrenceIn(cron: CronExpression, zone: string, piece: ZonePiece, afterMs: number): Occurrence | null {
  const { fromMs, toMs, offsetMs } = piece
  const firstLocalMs = Math.max(fromMs, afterMs + 1) + offsetMs
  const localMs = matchWallClock(cron, Math.max(firstLocalMs, newLocalMs(cron, piece)), toMs + offsetMs)
  if (localMs === null) return null
  const repeatsLater = !cron.followsElapsedTime && localMs >= toMs + offsetMs + pieceAt(zone, toMs).jumpMs
  return { atMs: localMs - offsetMs, localMs, change: repeatsLater ? 'clock_overlap' : null }
}

// What the clocks show a second time has fired already.
function newLocalMs(cron: CronExpression, { fromMs, offsetMs, jumpMs }: ZonePiece): number {
  return fromMs + offsetMs + Math.max(0, cron.followsElapsedTime ? 0 : -jumpMs)
}
