import { formatDuration } from './format-time.ts'

const units = ['B', 'kB', 'MB', 'GB', 'TB', 'PB']

/** Formats a whole number with thousands separators. */
export function formatCount(count: number): string {
  return count.toLocaleString('en')
}

/** Formats bytes in the largest decimal unit that gives at least 1. */
export function formatBytes(bytes: number): string {
  const unit = Math.min(Math.floor(Math.log10(Math.max(bytes, 1)) / 3), units.length - 1)
  const amount = bytes / 1000 ** unit
  return `${amount.toLocaleString('en', { maximumFractionDigits: unit === 0 ? 0 : 1 })} ${units[unit]}`
}

// The number that the API counts to where it does not say whether it stopped.
const maxCounted = 10_000

/** Formats a count: "1,204", or "5,000+" if counting stopped there. */
export function formatCounted(count: number, isCapped = count >= maxCounted): string {
  return `${formatCount(count)}${isCapped ? '+' : ''}`
}

/** Formats a share in percent. A part is never rounded to 0% or 100%. */
export function formatRate(part: number, whole: number): string {
  if (whole === 0) return '–'
  if (part === whole) return '100%'
  if (part === 0) return '0%'
  const percent = (part / whole) * 100
  if (percent < 0.1) return '< 0.1%'
  return `${Math.min(99.99, percent).toFixed(percent > 99 ? 2 : 1)}%`
}

/** Formats a value of a chart: a count or, in milliseconds, a duration. */
export function formatValue(value: number | null | undefined, isDuration = false): string {
  if (value == null) return '–'
  return isDuration ? formatDuration(value) : formatCount(value)
}

/** Formats a number of things: "1 task", "1,204 tasks". */
export function formatThings(count: number, thing: string): string {
  return `${formatCount(count)} ${thing}${count === 1 ? '' : 's'}`
}
