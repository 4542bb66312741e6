/** A time on a wall clock. The month is 1 to 12. */
export type WallTime = { year: number; month: number; day: number; hour: number; minute: number; second: number }

/** The instant of a wall time. `clock_gap` means that clocks skip the time, `clock_overlap` that it occurs twice. */
export type ZonedInstant = { at: Date; note: 'clock_gap' | 'clock_overlap' | null }

const dayMs = 86_400_000

/** Returns the wall time of an instant in a time zone. */
export function wallTimeOf(at: Date, timeZone: string): WallTime {
  const pieces = new Intl.DateTimeFormat('en-US', {
    timeZone,
    calendar: 'gregory',
    hourCycle: 'h23',
    ...{ year: 'numeric', month: 'numeric', day: 'numeric', hour: 'numeric', minute: 'numeric', second: 'numeric' },
  }).formatToParts(at)
  const number = (type: Intl.DateTimeFormatPartTypes) => Number(pieces.find(piece => piece.type === type)?.value)
  return {
    year: number('year'),
    month: number('month'),
    day: number('day'),
    hour: number('hour'),
    minute: number('minute'),
    second: number('second'),
  }
}

/** Formats an instant in a time zone, to the second: "2026-12-31 18:00:00". */
export function wallText(at: Date, timeZone: string): string {
  const { year, month, day, hour, minute, second } = wallTimeOf(at, timeZone)
  const two = (value: number) => String(value).padStart(2, '0')
  return `${String(year).padStart(4, '0')}-${two(month)}-${two(day)} ${two(hour)}:${two(minute)}:${two(second)}`
}

/**
 * Returns the instant of a wall time in a time zone. If the time occurs twice, it is the first one. If clocks skip the
 * time, it moves forward by the length of the skip.
 */
export function instantOf(wall: WallTime, timeZone: string): ZonedInstant {
  const asUtc = utcOf(wall)
  const before = offsetAt(asUtc - dayMs, timeZone)
  const after = offsetAt(asUtc + dayMs, timeZone)
  const found = [...new Set([asUtc - before, asUtc - after])]
    .filter(at => utcOf(wallTimeOf(new Date(at), timeZone)) === asUtc)
    .sort((a, b) => a - b)
  const first = found[0]
  if (first === undefined) return { at: new Date(asUtc - before), note: 'clock_gap' }
  return { at: new Date(first), note: found.length > 1 ? 'clock_overlap' : null }
}

/** Returns all time zones of the browser, with the zone of the viewer and UTC first. */
export function allZones(viewer: string): string[] {
  return [...new Set([viewer, 'UTC', ...Intl.supportedValuesOf('timeZone')])]
}

function offsetAt(at: number, timeZone: string): number {
  return utcOf(wallTimeOf(new Date(at), timeZone)) - Math.floor(at / 1000) * 1000
}

function utcOf({ year, month, day, hour, minute, second }: WallTime): number {
  return Date.UTC(year, month - 1, day, hour, minute, second)
}
