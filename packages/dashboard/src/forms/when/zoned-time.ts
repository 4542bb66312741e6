import { occurrenceOfLocal } from '@belfry/domain/cron/local-time'

/** A time on a wall clock. The month is 1 to 12. */
export type WallTime = { year: number; month: number; day: number; hour: number; minute: number; second: number }

/** The instant of a wall time. `clock_gap` means that clocks skip the time, `clock_overlap` that it occurs twice. */
export type ZonedInstant = { at: Date; note: 'clock_gap' | 'clock_overlap' | null }

export function wallTimeOf(at: Date, timeZone: string): WallTime {
  const pieces = new Intl.DateTimeFormat('en-US', {
    timeZone,
    calendar: 'gregory',
    hourCycle: 'h23',
    ...{ year: 'numeric', month: 'numeric', day: 'numeric', hour: 'numeric', minute: 'numeric', second: 'numeric' },
  }).formatToParts(at)
  const numbers = pieces.flatMap(({ type, value }) => (type === 'literal' ? [] : [[type, Number(value)]]))
  return Object.fromEntries(numbers) as WallTime // the parts above
}

/** Formats an instant in a time zone, to the second: "2026-12-31 18:00:00". */
export function wallText(at: Date, timeZone: string): string {
  const { year, month, day, hour, minute, second } = wallTimeOf(at, timeZone)
  const two = (value: number) => String(value).padStart(2, '0')
  return `${String(year).padStart(4, '0')}-${two(month)}-${two(day)} ${two(hour)}:${two(minute)}:${two(second)}`
}

/** Returns the instant of a wall time in a time zone, by the rule of cron jobs and of the API. */
export function instantOf({ year, month, day, hour, minute, second }: WallTime, timeZone: string): ZonedInstant {
  const { atMs, change } = occurrenceOfLocal(timeZone, Date.UTC(year, month - 1, day, hour, minute, second))
  return { at: new Date(atMs), note: change }
}

/** Returns all time zones of the browser, with the zone of the viewer and UTC first. */
export function allZones(viewer: string): string[] {
  return [...new Set([viewer, 'UTC', ...Intl.supportedValuesOf('timeZone')])]
}
