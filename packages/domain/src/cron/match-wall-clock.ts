import type { CronExpression } from './parse-cron.ts'

const minuteMs = 60_000
const dayMs = 86_400_000
const minutesPerDay = 1440

/**
 * Returns the first minute that an expression matches on an uninterrupted wall clock, from `fromMs` until before `toMs`.
 * Wall-clock times are epoch milliseconds as if in UTC.
 */
export function matchWallClock(cron: CronExpression, fromMs: number, toMs: number): number | null {
  let day = Math.floor(fromMs / dayMs)
  let minute = Math.ceil((fromMs - day * dayMs) / minuteMs)
  for (; day * dayMs < toMs; day++) {
    if (matchesDay(cron, day)) {
      const found = nextMinuteOfDay(cron, minute)
      if (found !== null) {
        const at = day * dayMs + found * minuteMs
        return at < toMs ? at : null
      }
    }
    minute = 0
  }
  return null
}

/** Counts the minutes that an expression matches on such a clock, from `fromMs` until before `toMs`. */
export function countWallClock(cron: CronExpression, fromMs: number, toMs: number): number {
  let count = 0
  for (let day = Math.floor(fromMs / dayMs); fromMs < toMs && day * dayMs < toMs; day++) {
    if (!matchesDay(cron, day)) continue
    const minuteAt = (ms: number) => Math.max(0, Math.min(minutesPerDay, Math.ceil((ms - day * dayMs) / minuteMs)))
    count += minutesBefore(cron, minuteAt(toMs)) - minutesBefore(cron, minuteAt(fromMs))
  }
  return count
}

// Counts the matching minutes of a day before one of them.
function minutesBefore({ hours, minutes }: CronExpression, minute: number): number {
  const hour = Math.floor(minute / 60)
  const wholeHours = countTrue(hours, hour)
  return wholeHours * countTrue(minutes, 60) + (hours[hour] ? countTrue(minutes, minute % 60) : 0)
}

function countTrue(table: readonly boolean[], end: number): number {
  let count = 0
  for (let i = 0; i < end; i++) if (table[i]) count++
  return count
}

function nextMinuteOfDay({ hours, minutes }: CronExpression, from: number): number | null {
  for (let at = from; at < minutesPerDay; ) {
    const hour = Math.floor(at / 60)
    if (!hours[hour]) at = (hour + 1) * 60
    else if (minutes[at % 60]) return at
    else at++
  }
  return null
}

function matchesDay(cron: CronExpression, epochDay: number): boolean {
  const date = dateOf(epochDay)
  if (!cron.months[date.getUTCMonth() + 1]) return false
  const [day, weekday] = [date.getUTCDate(), date.getUTCDay()]
  const isDay = cron.days[day] || (cron.lastDay && dateOf(epochDay + 1).getUTCDate() === 1)
  const isWeekday = cron.weekdays[weekday] || isNthWeekday(cron, weekday, epochDay, day)
  return (cron.eitherDay ? isDay || isWeekday : isDay && isWeekday) ?? false
}

function isNthWeekday({ nthWeekdays }: CronExpression, weekday: number, epochDay: number, day: number) {
  const isLast = nthWeekdays[weekday] && dateOf(epochDay + 7).getUTCDate() <= 7
  return isLast || nthWeekdays[7 * Math.ceil(day / 7) + weekday]
}

function dateOf(epochDay: number): Date {
  return new Date(epochDay * dayMs)
}
