import { parseInstantIn } from '@belfry/domain/cron/local-time'
import { isTimeZone } from '@belfry/domain/cron/zone-pieces'
import { z } from 'zod'
import { cronOfRate } from './cron-of-rate.ts'
import { type Entry, type Found, ImportRefusal, requestFields, type SourceFlags } from './entry.ts'
import { jsonEntries, targetUrlOf } from './json-entries.ts'

const form = z.object({
  Name: z.string(),
  ScheduleExpression: z.string(),
  ScheduleExpressionTimezone: z.string().default('UTC'),
  State: z.string().default('ENABLED'),
  StartDate: z.string().optional(),
  EndDate: z.string().optional(),
  FlexibleTimeWindow: z.object({ Mode: z.string(), MaximumWindowInMinutes: z.int().optional() }).optional(),
  Target: z.object({
    Arn: z.string(),
    Input: z.string().optional(),
    RetryPolicy: z
      .object({ MaximumRetryAttempts: z.int().default(185), MaximumEventAgeInSeconds: z.int().default(86_400) })
      .prefault({}),
  }),
})
type Schedule = z.infer<typeof form>

/** Parses the outputs of `aws scheduler get-schedule`, one after the other. */
export function readEventbridge(text: string, { target }: SourceFlags): Entry[] {
  return jsonEntries(text, form, 'Name', schedule => readSchedule(schedule, target))
}

function readSchedule(schedule: Schedule, targets: readonly string[] | undefined): Found {
  const { Name: name, ScheduleExpressionTimezone: timezone, Target, FlexibleTimeWindow: window } = schedule
  const url = targetUrlOf(Target.Arn, targets)
  const { cron, notes = [], isOnce, ...times } = readExpression(schedule.ScheduleExpression, timezone)
  // A single time has no other dates.
  const { StartDate, EndDate }: Partial<Schedule> = isOnce ? {} : schedule
  const { MaximumRetryAttempts: attempts, MaximumEventAgeInSeconds: ageS } = Target.RetryPolicy
  return {
    job: {
      ...requestFields({ url, method: 'POST', headers: {}, body: Target.Input ?? null }),
      ...{ name, cron, timezone },
      starts_at: inOrder(StartDate, times.starts_at).at(-1),
      ends_at: inOrder(EndDate, times.ends_at)[0],
      retry: { max_retries: Math.min(20, attempts) },
      max_age_ms: ageS * 1000,
    },
    isPaused: schedule.State !== 'ENABLED',
    notes: [
      ...notes,
      ...(attempts > 20 ? [`the maximum is 20 retries, not ${attempts}`] : []),
      ...(window?.Mode === 'FLEXIBLE' ? [`runs are not spread over ${window.MaximumWindowInMinutes} minutes`] : []),
    ],
  }
}

// Their offsets may differ.
function inOrder(...times: Array<string | undefined>): string[] {
  return times.filter(time => time !== undefined).sort((a, b) => Date.parse(a) - Date.parse(b))
}

type Times = {
  cron: string
  notes?: string[]
  isOnce?: true
  starts_at?: string | undefined
  ends_at?: string | undefined
}

// A single time becomes a yearly expression that is limited to its year.
function readExpression(expression: string, timezone: string): Times {
  if (!isTimeZone(timezone)) throw new ImportRefusal(`${timezone} is not a time zone name of the IANA database.`)
  const [, kind, inner = ''] = /^(rate|at|cron)\((.*)\)$/.exec(expression.trim()) ?? []
  const words = inner.trim().split(/\s+/)
  if (kind === 'rate') return cronOfRate(Number(words[0]), words[1] ?? '')
  if (kind === 'at') {
    const [year, month, day, hour, minute] = inner.split(/\D+/).map(Number)
    const at = parseInstantIn(timezone, inner)
    if (at === null) throw new ImportRefusal(`The time ${inner} is not one such as 2027-06-01T09:05:00.`)
    if (at.getTime() < Date.now()) throw new ImportRefusal('Its time has passed.')
    return { cron: `${minute} ${hour} ${day} ${month} *`, isOnce: true, ...periodOf(`${year}`, timezone) }
  }
  const [minute = '', hour = '', day = '', month = '', weekday = '', year = '*'] = words
  const fields = [stepped(minute, 59), stepped(hour, 23), stepped(day, 31), stepped(month, 12), fromSunday(weekday)]
  return { cron: fields.join(' ').replaceAll('?', '*'), ...periodOf(year, timezone) }
}

// In EventBridge 5/15 is every 15th value from 5 on.
function stepped(field: string, high: number): string {
  return field.replace(/(^|,)(\d+)\//g, `$1$2-${high}/`)
}

// In EventBridge Sunday is 1. The number after # is a week, and after / a step.
function fromSunday(field: string): string {
  return field.replace(/(?<![#/\d])\d/g, day => String(Number(day) - 1))
}

function periodOf(years: string, timezone: string): Pick<Times, 'starts_at' | 'ends_at'> {
  if (years === '*') return {}
  const [, first, last = first] = /^(\d{4})(?:-(\d{4}))?$/.exec(years) ?? []
  if (first === undefined) throw new ImportRefusal(`The years ${years} are not one period.`)
  if (Number(last) < new Date().getUTCFullYear()) throw new ImportRefusal('Its years have passed.')
  const newYear = (year: number) => parseInstantIn(timezone, `${year}-01-01T00:00:00`)?.toISOString()
  return { starts_at: newYear(Number(first)), ends_at: newYear(Number(last) + 1) }
}
