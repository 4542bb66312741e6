import { expect, it } from 'vitest'
import { readEventbridge } from './read-eventbridge.ts'

const read = (expression: string, timezone = 'Europe/Berlin', dates = {}) => {
  const Target = { Arn: 'fn' }
  const schedule = { Name: 'a', ScheduleExpression: expression, ScheduleExpressionTimezone: timezone, Target, ...dates }
  const [entry] = readEventbridge(JSON.stringify(schedule), { target: ['fn=https://example.com'] })
  return entry && 'job' in entry ? entry.job : entry?.refusal
}

it.each([
  ['cron(0 10 * * ? *)', '0 10 * * *'],
  ['cron(15 12 ? * 1 *)', '15 12 * * 0'],
  ['cron(0 18 ? * 2-6 *)', '0 18 * * 1-5'],
  ['cron(0 8 1 * ? *)', '0 8 1 * *'],
  ['cron(0/15 * * * ? *)', '0-59/15 * * * *'],
  ['cron(5,10/20 2/6 ? JAN-MAR SUN,TUE *)', '5,10-59/20 2-23/6 * JAN-MAR SUN,TUE'],
  ['cron(0 9 ? * 2#1 *)', '0 9 * * 1#1'],
  ['cron(0 9 ? * 6L *)', '0 9 * * 5L'],
  ['cron(0 9 L * ? *)', '0 9 L * *'],
  ['rate(1 minute)', '* * * * *'],
  ['rate(30 minutes)', '*/30 * * * *'],
  ['rate(120 minutes)', '0 */2 * * *'],
  ['rate(1 hour)', '0 * * * *'],
  ['rate(1 day)', '0 0 * * *'],
  ['rate(7 days)', '0 0 * * 0'],
])('%s becomes %s', (expression, cron) => {
  expect(read(expression)).toMatchObject({ cron, timezone: 'Europe/Berlin' })
})

it('gives years and single times a period in their zone', () => {
  const year = { starts_at: '2096-12-31T23:00:00.000Z', ends_at: '2097-12-31T23:00:00.000Z' }
  expect(read('cron(0 9 1 6 ? 2097)')).toMatchObject({ cron: '0 9 1 6 *', ...year })
  expect(read('at(2097-06-01T09:05:00)')).toMatchObject({ cron: '5 9 1 6 *', ...year })
})

it('limits a period to the dates of the schedule, which do not apply to a single time', () => {
  const within = (expression: string, StartDate: string, EndDate: string) =>
    read(expression, 'Europe/Berlin', { StartDate, EndDate })
  const year = { starts_at: '2096-12-31T23:00:00.000Z', ends_at: '2097-12-31T23:00:00.000Z' }
  const narrow = ['2097-02-01T00:00:00+01:00', '2097-12-31T23:30:00+01:00'] as const
  const [starts_at, ends_at] = narrow
  const wide = ['2097-01-01T00:30:00+02:00', '2098-06-01T00:00:00Z'] as const
  expect(within('cron(0 9 * * ? 2097)', ...narrow)).toMatchObject({ starts_at, ends_at })
  expect(within('cron(0 9 * * ? 2097)', ...wide)).toMatchObject(year)
  expect(within('rate(1 hour)', ...narrow)).toMatchObject({ starts_at, ends_at })
  expect(within('at(2097-06-01T09:05:00)', ...narrow)).toMatchObject(year)
})

it.each([
  ['rate(45 minutes)', /every 45 minutes/],
  ['rate(2 days)', /every 2 days/],
  ['at(2020-06-01T09:05:00)', /has passed/],
  ['at(2097-02-30T09:05:00)', /2097-02-30T09:05:00 is not one such as/],
  ['at(tomorrow)', /tomorrow is not one such as/],
  ['cron(0 9 1 6 ? 2020-2021)', /have passed/],
  ['cron(0 9 1 6 ? 2097/2)', /not one period/],
  ['cron(0 9 LW * ? *)', /day of month/],
  ['every day', /minute/],
])('refuses %s', (expression, reason) => {
  expect(read(expression)).toMatch(reason)
})

it('refuses a zone that is none', () => {
  expect(read('rate(1 hour)', 'Mars/Olympus')).toMatch(/Mars\/Olympus is not a time zone/)
})
