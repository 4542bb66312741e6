import { countWallClock, matchWallClock } from './match-wall-clock.ts'
import type { CronExpression } from './parse-cron.ts'
import { occursAgain, pieceAt, type ZonePiece } from './zone-pieces.ts'

/**
 * An instant at which an expression fires. `change` is `clock_gap` when the local time did not exist that day, and the
 * occurrence fires at the end of the gap. It is `clock_overlap` when the local time existed twice, and this is the first.
 */
export type Occurrence = { atMs: number; localMs: number; change: 'clock_gap' | 'clock_overlap' | null }

/** An expression that does not fire within this time counts as never firing. */
export const cronHorizonYears = 10

const dayMs = 86_400_000
const horizonMs = cronHorizonYears * 366 * dayMs
// Larger changes are corrections of the zone: the skipped times never existed (cron(8)).
const maxGapMs = 3 * 3_600_000

/**
 * Returns the first instant strictly after another at which an expression fires in a time zone, or null if it does
 * not fire within ten years. Times of the day fire once despite clock changes; intervals follow elapsed time.
 */
export function nextOccurrence(cron: CronExpression, zone: string, afterMs: number): Occurrence | null {
  const limitMs = afterMs + horizonMs
  let piece = pieceAt(zone, afterMs + 1)
  for (;;) {
    const found = skippedOccurrence(cron, piece, afterMs) ?? occurrenceIn(cron, zone, piece, afterMs)
    if (found) return found.atMs <= limitMs ? found : null
    // Nothing fires until the clock comes near the next matching local time.
    const endLocalMs = piece.toMs + piece.offsetMs
    const nextLocalMs = matchWallClock(cron, endLocalMs - 2 * dayMs, limitMs + 2 * dayMs)
    if (nextLocalMs === null) return null
    piece = pieceAt(zone, Math.max(piece.toMs, nextLocalMs - 3 * dayMs))
  }
}

/** Counts the instants at which an expression fires in a time zone, from `fromMs` until before `toMs`. */
export function countInstants(cron: CronExpression, zone: string, fromMs: number, toMs: number): number {
  let count = 0
  for (let atMs = fromMs; atMs < toMs; ) {
    const piece = pieceAt(zone, atMs)
    const isSkipped = skippedOccurrence(cron, piece, atMs - 1) !== null
    // Skipped occurrences coincide with a match of the first minute after the gap.
    const firstMs = isSkipped ? atMs + 1 : atMs
    const firstLocalMs = Math.max(firstMs + piece.offsetMs, newLocalMs(cron, piece))
    count += Number(isSkipped) + countWallClock(cron, firstLocalMs, Math.min(piece.toMs, toMs) + piece.offsetMs)
    atMs = piece.toMs
  }
  return count
}

// Returns the occurrence that the clock change at the start of this piece skipped.
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
  const repeatsLater = !cron.followsElapsedTime && occursAgain(zone, piece, localMs)
  return { atMs: localMs - offsetMs, localMs, change: repeatsLater ? 'clock_overlap' : null }
}

// Local times that repeat have fired already.
function newLocalMs(cron: CronExpression, { fromMs, offsetMs, jumpMs }: ZonePiece): number {
  return fromMs + offsetMs + Math.max(0, cron.followsElapsedTime ? 0 : -jumpMs)
}
