const units = [
  ['year', 31_536_000_000],
  ['month', 2_592_000_000],
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
  ['second', 1000],
] as const satisfies ReadonlyArray<readonly [Intl.RelativeTimeFormatUnit, number]>

// In words: "tomorrow", "now". "Next month" would hide whether 30 days are left or five.
const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto', style: 'short' })
const counted = new Intl.RelativeTimeFormat('en', { style: 'short' })

/** Formats a time relative to now: "3 min ago", "in 2 hr". */
export function formatRelative(at: Date, now: Date): string {
  const distance = at.getTime() - now.getTime()
  // A unit from which on the rounded number is at least 1: 59.6 minutes are an hour.
  const [unit, length] = units.find(([, ms], index) => Math.abs(distance) >= ms - (units[index + 1]?.[1] ?? 0) / 2) ?? [
    'second',
    1000,
  ]
  const format = unit === 'month' || unit === 'year' ? counted : relative
  return format.format(Math.round(distance / length), unit).replace('.', '')
}

/** Formats a time in full. Default: the browser's time zone. */
export function formatAbsolute(at: Date, timeZone?: string): string {
  return formatter({ dateStyle: 'medium', timeStyle: 'medium', timeZone }).format(at)
}

const day = { day: 'numeric', month: 'short' } as const
const minute = { hour: '2-digit', minute: '2-digit' } as const
const zonedSecond = { ...minute, second: '2-digit', timeZoneName: 'short' } as const

/** Formats a time in full, with its zone: "21 Nov 2026, 13:00:05 CET". */
export function formatZoned(at: Date, timeZone: string): string {
  return formatter({ ...day, year: 'numeric', ...zonedSecond, timeZone }).format(at)
}

/** Formats a time to the second for a list, with its zone: "21 Nov, 13:00:05 CET". */
export function formatStamp(at: Date, timeZone: string): string {
  return formatter({ ...day, ...zonedSecond, timeZone }).format(at)
}

/** Formats a time to the minute, with its weekday: "Fri, 26 Mar 2027, 02:30". */
export function formatMinute(at: Date, timeZone?: string): string {
  return formatter({ weekday: 'short', ...day, year: 'numeric', ...minute, timeZone }).format(at)
}

export function viewerZone(): string {
  return formatter({}).resolvedOptions().timeZone
}

type FormatOptions = { [Key in keyof Intl.DateTimeFormatOptions]: Intl.DateTimeFormatOptions[Key] | undefined }

const formatters = new Map<string, Intl.DateTimeFormat>()

// Creating a formatter takes longer than a row of a list may take.
function formatter(options: FormatOptions): Intl.DateTimeFormat {
  const key = JSON.stringify(options)
  const known = formatters.get(key)
  if (known) return known
  const created = new Intl.DateTimeFormat('en-GB', JSON.parse(key)) // without the undefined ones
  formatters.set(key, created)
  return created
}

/** Formats a duration: "84 ms", "1.2 s", "30 s", "3 min 20 s". */
export function formatDuration(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`
  if (ms < 60_000) return `${(ms / 1000).toFixed(1).replace('.0', '')} s`
  const seconds = Math.round(ms / 1000)
  if (seconds < 3600) return inTwoUnits(seconds, 'min', 's')
  return inTwoUnits(Math.round(seconds / 60), 'h', 'min')
}

function inTwoUnits(count: number, large: string, small: string): string {
  return `${Math.floor(count / 60)} ${large}${count % 60 === 0 ? '' : ` ${count % 60} ${small}`}`
}

const dayMs = 86_400_000

/** Formats the ticks of a time axis: the time of day, or the date if they are days apart. */
export function formatTicks(ticks: readonly number[], timeZone?: string): string[] {
  const isDaily = ticks.length > 1 && (ticks[1] ?? 0) - (ticks[0] ?? 0) >= dayMs
  const { format } = formatter({ ...(isDaily ? day : minute), timeZone })
  return ticks.map(tick => format(tick))
}
