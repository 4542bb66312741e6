import { type CronExpression, parseCron } from '@belfry/domain/cron/parse-cron'
import { ImportRefusal } from './entry.ts'

// In Debian's cron a day must match both day fields as soon as one of them begins with *, such as */2. In Belfry it must
// match one of them, unless one is just *.

/** Returns the expression that fires on the days on which Debian's cron runs a line. */
export function keepDays(text: string): { cron: string; notes: string[] } {
  const parsed = parseCron(text)
  if (!parsed.ok || !parsed.cron.eitherDay) return { cron: text, notes: [] }
  const { minute, hour, 'day of month': day, month, 'day of week': weekday } = parsed.cron.fields
  if (!day.startsWith('*') && !weekday.startsWith('*')) return { cron: text, notes: [] }
  const both = bothDays(parsed.cron)
  const difference = `cron runs it on days that match both ${day} and ${weekday}, because one of them begins with *`
  if (both === null) {
    throw new ImportRefusal(
      `${difference}. Five fields of Belfry cannot say that: keep one of the two, and check the other one in the target.`,
    )
  }
  const cron = [minute, hour, both.day, month, both.weekday].join(' ')
  return { cron, notes: [`${difference}; ${cron} keeps that meaning, where ${text} would mean either`] }
}

function bothDays({ fields, days, weekdays }: CronExpression): { day: string; weekday: string } | null {
  if (weekdays.every(Boolean)) return { day: fields['day of month'], weekday: '*' }
  if (days.slice(1).every(Boolean)) return { day: '*', weekday: fields['day of week'] }
  const weeks = [1, 8, 15, 22, 29].map(first => days.slice(first, Math.min(first + 7, 32)))
  if (weeks.some(week => week.includes(true) && week.includes(false))) return null
  const elements = weekdays.flatMap((isOn, weekday) =>
    isOn ? weeks.flatMap((week, i) => (week[0] ? [`${weekday}#${i + 1}`] : [])) : [],
  )
  return { day: '*', weekday: elements.join(',') }
}
