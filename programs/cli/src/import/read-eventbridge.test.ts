import { expect, it } from 'vitest'
import { readEventbridge } from './read-eventbridge.ts'

const read = (expression: string, timezone = 'Europe/Berlin') => {
  const Target = { Arn: 'fn' }
  const schedule = { Name: 'a', ScheduleExpression: expression, ScheduleExpressionTimezone: timezone, Target }
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
