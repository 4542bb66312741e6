export type CalendarTime = { year: number; month: number; day: number; hour: number; minute: number; second: number }

/** The instant of a UTC date and time; null when the calendar or the clock does not have it. */
export function dateOf({ year, month, day, hour, minute, second }: CalendarTime): Date | null {
  if (month < 1 || month > 12 || hour > 23 || minute > 59 || second > 59) return null
  const date = new Date(0)
  // Date.UTC would take the years 0 to 99 for 1900 to 1999.
  date.setUTCFullYear(year, month - 1, day)
  // A day that the month does not have has become one of another month.
  if (date.getUTCMonth() !== month - 1) return null
  date.setUTCHours(hour, minute, second)
  return date
}
