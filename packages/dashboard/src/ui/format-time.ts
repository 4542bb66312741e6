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

/** Formats a time in full. Default time zone: that of the browser. */
export function formatAbsolute(at: Date, timeZone?: string): string {
  return formatter({ dateStyle: 'medium', timeStyle: 'medium', timeZone }).format(at)
}

/** Formats a time in full, with its zone: "21 Nov 2026, 13:00:05 CET". */
export function formatZoned(at: Date, timeZone: string): string {
  return formatter({
    ...{ day: 'numeric', month: 'short', year: 'numeric', hour: '2-digit', minute: '2-digit', second: '2-digit' },
    timeZone,
    timeZoneName: 'short',
  }).format(at)
}

/** Formats a time to the second for a list, with its zone: "21 Nov, 13:00:05 CET". */
export function formatStamp(at: Date, timeZone: string): string {
  return formatter({
    ...{ day: 'numeric', month: 'short', hour: '2-digit', minute: '2-digit', second: '2-digit' },
    timeZone,
    timeZoneName: 'short',
  }).format(at)
}

/** Formats a time to the minute, with its weekday: "Fri, 26 Mar 2027, 02:30". */
export function formatMinute(at: Date, timeZone?: string): string {
  return formatter({
    ...{ weekday: 'short', day: 'numeric', month: 'short', year: 'numeric', hour: '2-digit', minute: '2-digit' },
    timeZone,
  }).format(at)
}

/** Returns the time zone of the browser. */
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
  if (seconds < 3600)
    return [`${Math.floor(seconds / 60)} min`, seconds % 60 && `${seconds % 60} s`].filter(Boolean).join(' ')
  const minutes = Math.round(seconds / 60)
  return [`${Math.floor(minutes / 60)} h`, minutes % 60 && `${minutes % 60} min`].filter(Boolean).join(' ')
}

const dayMs = 86_400_000

/** Formats the ticks of a time axis: the time of day, and the date on the first tick of each day. */
export function formatTicks(ticks: readonly number[], timeZone?: string): string[] {
  const zone = timeZone ? { timeZone } : {}
  const time = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', ...zone })
  const date = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', ...zone })
  const isDaily = ticks.length > 1 && (ticks[1] ?? 0) - (ticks[0] ?? 0) >= dayMs
  return ticks.map((tick, index) => {
    const day = date.format(tick)
    const before = ticks[index - 1]
    if (isDaily) return day
    return before === undefined || date.format(before) !== day ? `${time.format(tick)}\n${day}` : time.format(tick)
  })
}
