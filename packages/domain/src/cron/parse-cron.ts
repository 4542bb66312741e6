import { type CronFieldName, cronFields, parseCronField } from './cron-field.ts'

/** A parsed cron expression. Each table is indexed by the values of its field. */
export type CronExpression = {
  /** The five fields, separated by single spaces. */
  text: string
  fields: Readonly<Record<CronFieldName, string>>
  minutes: readonly boolean[]
  hours: readonly boolean[]
  days: readonly boolean[]
  months: readonly boolean[]
  /** The last day of the month matches, beside `days`. */
  lastDay: boolean
  /** Sunday is 0. */
  weekdays: readonly boolean[]
  /** Beside `weekdays`, the nth of a weekday in the month matches at `7 * n + weekday`, the last one at n = 0. */
  nthWeekdays: readonly boolean[]
  /** Both day fields are restricted, so a day has to match only one of them. */
  eitherDay: boolean
  /** The minute or the hour starts with `*`: the expression means intervals rather than times of the day. */
  followsElapsedTime: boolean
}

export type ParsedCron = { ok: true; cron: CronExpression } | { ok: false; message: string }

/** The names of expressions in other schedulers. `parseCron` refuses them. */
export const cronNames: Readonly<Record<string, string>> = {
  '@yearly': '0 0 1 1 *',
  '@annually': '0 0 1 1 *',
  '@monthly': '0 0 1 * *',
  '@weekly': '0 0 * * 0',
  '@daily': '0 0 * * *',
  '@midnight': '0 0 * * *',
  '@hourly': '0 * * * *',
}

// The longest sensible expression, every value of every field written out, has about 400 characters.
const maxLength = 1000
const fieldList = 'minute, hour, day of month, month, day of week'
const maxKept = 10_000
const kept = new Map<string, ParsedCron>()

/** Parses a cron expression of exactly five fields, or returns a sentence about each field that breaks a rule. */
export function parseCron(text: string): ParsedCron {
  const known = kept.get(text)
  if (known) return known
  const parsed = parse(text)
  if (parsed.ok) {
    if (kept.size === maxKept) kept.clear()
    kept.set(text, parsed)
  }
  return parsed
}

function parse(text: string): ParsedCron {
  if (text.length > maxLength) return refusal(`must have at most ${maxLength} characters`)
  const problem = problemOfText(text)
  if (problem !== null) return refusal(problem)
  const texts = text.split(/[ \t]+/).filter(field => field !== '')
  if (texts.length !== cronFields.length) {
    return refusal(`must have exactly 5 fields (${fieldList}), separated by spaces; it has ${texts.length}`)
  }
  const results = cronFields.map((field, i) => parseCronField(texts[i] ?? '', field))
  const problems = results.flatMap(result => ('problem' in result ? [result.problem] : []))
  if (problems.length > 0) return { ok: false, message: `cron is not valid: ${problems.join('; ')}.` }
  const values = results.map(result => ('values' in result ? result.values : new Set<string>()))
  const [minutes = [], hours = [], days = [], months = [], weekdays = []] = values.map((set, i) => tableOf(set, i))
  const [minute = '', hour = '', day = '', month = '', weekday = ''] = texts
  const cron = {
    text: texts.join(' '),
    fields: { minute, hour, 'day of month': day, month, 'day of week': weekday },
    ...{ minutes, hours, days, months, weekdays },
    lastDay: values[2]?.has('L') ?? false,
    nthWeekdays: ['L', '#1', '#2', '#3', '#4', '#5'].flatMap(nth => tableOf(values[4] ?? new Set(), 4, nth)),
    eitherDay: day !== '*' && weekday !== '*',
    followsElapsedTime: minute.startsWith('*') || hour.startsWith('*'),
  }
  return { ok: true, cron }
}

function refusal(must: string): ParsedCron {
  return { ok: false, message: `cron ${must}.` }
}

function problemOfText(text: string): string | null {
  if (/^[ \t]*@/.test(text)) return `must have exactly 5 fields (${fieldList}); names such as @daily are not supported`
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the search is for control characters
  const space = /[^\S \t]|[\u0000-\u0008\u000e-\u001f\u007f\u0085\u200b-\u200d\u2060]/u.exec(text)?.[0]
  if (space === undefined) return null
  const code = space.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')
  return `must separate its fields with ordinary spaces; it contains the character U+${code}`
}

function tableOf(values: ReadonlySet<string>, field: number, suffix = ''): boolean[] {
  const isWeekday = field === cronFields.length - 1
  const size = isWeekday ? 7 : (cronFields[field]?.high ?? 0) + 1
  const has = (value: number) => values.has(`${value}${suffix}`)
  return Array.from({ length: size }, (_, value) => has(value) || (isWeekday && value === 0 && has(7)))
}
