import { parseInstant } from '../instant.ts'
import type { Occurrence } from './next-occurrence.ts'
import { occursAgain, pieceAt } from './zone-pieces.ts'

const dayMs = 86_400_000

/**
 * Returns the instant of a local time in a zone, by the rule of cron jobs: a time that clocks skip is the end of the gap, and a
 * time that occurs twice is the first of the two.
 * @param localMs - The time on the wall clock, as if in UTC.
 */
export function occurrenceOfLocal(zone: string, localMs: number): Occurrence {
  let piece = pieceAt(zone, localMs - 2 * dayMs)
  while (piece.toMs + piece.offsetMs <= localMs) piece = pieceAt(zone, piece.toMs)
  const atMs = localMs - piece.offsetMs
  if (atMs < piece.fromMs) return { atMs: piece.fromMs, localMs, change: 'clock_gap' }
  return { atMs, localMs, change: occursAgain(zone, piece, localMs) ? 'clock_overlap' : null }
}

/** Parses a timestamp without an offset into the time on the wall clock, as if in UTC; returns null for other text. */
export function parseLocal(text: string): Date | null {
  return parseInstant(`${text}Z`)
}

/** Parses a timestamp with an offset, or one without an offset in a zone. */
export function parseInstantIn(zone: string | null, text: string): Date | null {
  const instant = parseInstant(text)
  if (instant !== null || zone === null) return instant
  const local = parseLocal(text)
  return local && new Date(occurrenceOfLocal(zone, local.getTime()).atMs)
}

/** Returns the local time of an instant in a zone, with its offset: `2026-11-21T03:20:00.000+01:00`. */
export function localTimeOf(zone: string, atMs: number): string {
  const { offsetMs } = pieceAt(zone, atMs)
  const offset = new Date(Math.abs(offsetMs)).toISOString().slice('yyyy-mm-ddT'.length, 'yyyy-mm-ddThh:mm'.length)
  return `${new Date(atMs + offsetMs).toISOString().slice(0, -1)}${offsetMs < 0 ? '-' : '+'}${offset}`
}
