import { localTimeOf, occurrenceOfLocal } from '@belfry/domain/cron/local-time'

export const dayMs = 86_400_000

/** The instant of a wall time. `clock_gap` means that clocks skip the time, `clock_overlap` that it occurs twice. */
export type ZonedInstant = { at: Date; note: 'clock_gap' | 'clock_overlap' | null }

/** Returns the time on a wall clock, in milliseconds as if in UTC. */
export function wallTimeOf(at: Date, timeZone: string): number {
  return Date.parse(`${localTimeOf(timeZone, at.getTime()).slice(0, 'yyyy-mm-ddThh:mm:ss.mmm'.length)}Z`)
}

/** Returns when the day of an instant begins on a wall clock. */
export function wallDayOf(at: Date, timeZone: string): number {
  return Math.floor(wallTimeOf(at, timeZone) / dayMs) * dayMs
}

/** Formats an instant in a time zone, to the second: "2026-12-31 18:00:00". */
export function wallText(at: Date, timeZone: string): string {
  return localTimeOf(timeZone, at.getTime()).slice(0, 'yyyy-mm-ddThh:mm:ss'.length).replace('T', ' ')
}

/** Returns the instant of a wall time in a time zone, by the rule of cron jobs and of the API. */
export function instantOf(wallMs: number, timeZone: string): ZonedInstant {
  const { atMs, change } = occurrenceOfLocal(timeZone, wallMs)
  return { at: new Date(atMs), note: change }
}

/** Returns all time zones of the browser and the chosen one, with the zone of the viewer and UTC first. */
export function allZones(viewer: string, chosen: string): string[] {
  // A browser lists one of several names: Asia/Calcutta, but not Asia/Kolkata.
  return [...new Set([viewer, 'UTC', ...Intl.supportedValuesOf('timeZone'), chosen])]
}
