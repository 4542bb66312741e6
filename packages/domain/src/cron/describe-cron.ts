import { cronFields } from './cron-field.ts'
import type { CronExpression } from './parse-cron.ts'

const monthNames = [
  ...['January', 'February', 'March', 'April', 'May', 'June', 'July', 'August', 'September', 'October', 'November'],
  'December',
]
const dayNames = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday']
const nthNames = ['last', 'first', 'second', 'third', 'fourth', 'fifth']
const maxTimesOfDay = 6

/** Describes an expression in English, such as "At 09:00 on Monday through Friday". */
export function describeCron({ fields, eitherDay }: CronExpression): string {
  const day = fields['day of month']
  const weekday = fields['day of week']
  const days = day === '*' ? '' : `on ${phrase(day, 'day', String)} of the month`
  const weekdays = weekday === '*' ? '' : `on ${phrase(weekday, 'day of the week', nameOfDay)}`
  const dates = eitherDay ? `${days} or ${weekdays}` : `${days}${weekdays}`
  const months = fields.month === '*' ? '' : `in ${phrase(fields.month, 'month', nameOfMonth)}`
  return [describeTime(fields.minute, fields.hour), dates, months].filter(part => part !== '').join(' ')
}

function describeTime(minute: string, hour: string): string {
  const times = timesOfDay(minute, hour)
  if (times !== null) return `At ${join(times)}`
  const minutes = describeMinutes(minute)
  if (hour === '*') return minutes
  return `${minutes} ${minutes.startsWith('At') ? 'past' : 'during'} ${phrase(hour, 'hour', String)}`
}

function describeMinutes(minute: string): string {
  if (minute === '*' || minute === '*/1') return 'Every minute'
  const step = /^\*\/(\d+)$/.exec(minute)?.[1]
  if (step !== undefined && 60 % Number(step) === 0) {
    return Number(step) === 60 ? 'At minute 0' : `Every ${Number(step)} minutes`
  }
  return `At ${phrase(minute, 'minute', String)}`
}

function timesOfDay(minute: string, hour: string): string[] | null {
  const isPlain = (text: string) => /^\d+(,\d+)*$/.test(text)
  if (!isPlain(minute) || !isPlain(hour)) return null
  const minutes = minute.split(',').map(twoDigits)
  const times = new Set(hour.split(',').flatMap(hour => minutes.map(minute => `${twoDigits(hour)}:${minute}`)))
  return times.size > maxTimesOfDay ? null : [...times].sort()
}

function phrase(text: string, unit: string, nameOf: (value: string) => string): string {
  const isNamed = nameOf !== String
  const plain = (value: string) => (isNamed ? nameOf(value) : String(Number(value)))
  const elements = text.split(',').map(element => {
    if (element.toUpperCase() === 'L') return 'the last day'
    const [, day, nth = 0] = (nameOf === nameOfDay && /^(.+?)(?:#([1-5])|L)$/i.exec(element)) || []
    if (day !== undefined) return `the ${nthNames[Number(nth)]} ${nameOfDay(day)} of the month`
    const [base = '', step] = element.split('/')
    const [from = '', last] = base.split('-')
    // Sunday is 0 and 7.
    const to = isNamed && from === '0' && last === '7' ? '6' : last
    const range = to === undefined ? plain(from) : `${plain(from)} through ${plain(to)}`
    const every = `every ${ordinal(Number(step ?? 1))}${unit}`
    if (base === '*') return every
    return step === undefined ? range : `${every} from ${range}`
  })
  const firstNumber = elements.findIndex(element => /^\d/.test(element))
  return join(elements.map((element, i) => (i === firstNumber ? `${unit} ${element}` : element)))
}

function nameOfMonth(value: string): string {
  return monthNames[indexOf(value, 3)] ?? value
}

function nameOfDay(value: string): string {
  return dayNames[indexOf(value, 4)] ?? value
}

function indexOf(value: string, field: number): number {
  const { words = [], low = 0 } = cronFields[field] ?? {}
  const word = words.indexOf(value.toUpperCase())
  return word >= 0 ? word : Number(value) - low
}

function ordinal(n: number): string {
  if (n === 1) return ''
  const isTeen = n % 100 >= 11 && n % 100 <= 13
  return `${n}${(isTeen ? undefined : ['th', 'st', 'nd', 'rd'][n % 10]) ?? 'th'} `
}

function twoDigits(number: string): string {
  return String(Number(number)).padStart(2, '0')
}

function join(words: readonly string[]): string {
  return words.length < 2 ? words.join() : `${words.slice(0, -1).join(', ')} and ${words.at(-1)}`
}
