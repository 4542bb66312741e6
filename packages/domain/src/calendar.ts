export type CalendarTime = { year: number; month: number; day: number; hour: number; minute: number; second: number }

/** Returns the instant of a UTC date and time; null when it does not exist. */
export function dateOf({ year, month, day, hour, minute, second }: CalendarTime): Date | null {
  if (month < 1 || month > 12 || hour > 23 || minute > 59 || second > 59) return null
  const date = new Date(0)
  // Date.UTC maps the years 0 to 99 to 1900 to 1999.
  date.setUTCFullYear(year, month - 1, day)
  // A day beyond the end of the month has become a day of the next one.
  if (date.getUTCMonth() !== month - 1) return null
  date.setUTCHours(hour, minute, second)
  return date
}
