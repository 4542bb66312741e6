import { expect, it } from 'vitest'
import { describeCron } from './describe-cron.ts'
import { parseCron } from './parse-cron.ts'

it.each([
  ['* * * * *', 'Every minute'],
  ['*/5 * * * *', 'Every 5 minutes'],
  ['*/7 * * * *', 'At every 7th minute'],
  ['*/1 */1 * * *', 'Every minute during every hour'],
  ['30 * * * *', 'At minute 30'],
  ['0 9 * * *', 'At 09:00'],
  ['0 9 * * MON-FRI', 'At 09:00 on Monday through Friday'],
  ['0 9 * * 0-7', 'At 09:00 on Sunday through Saturday'],
  ['15,45 8,17 * * *', 'At 08:15, 08:45, 17:15 and 17:45'],
  ['5,20 9-17 * * *', 'At minute 5 and 20 past hour 9 through 17'],
  ['* 9 * * *', 'Every minute during hour 9'],
  ['0-30/10 */2 * * *', 'At every 10th minute from 0 through 30 past every 2nd hour'],
  ['0 0 1,15 * *', 'At 00:00 on day 1 and 15 of the month'],
  ['0 0 1 * mon', 'At 00:00 on day 1 of the month or on Monday'],
  ['0 0 * * 0,7', 'At 00:00 on Sunday and Sunday'],
  ['0 0 29 2 *', 'At 00:00 on day 29 of the month in February'],
  ['0 0 * jan-MAR,12 */3', 'At 00:00 on every 3rd day of the week in January through March and December'],
  ['0 0 L * *', 'At 00:00 on the last day of the month'],
  ['0 0 1,l * *', 'At 00:00 on day 1 and the last day of the month'],
  ['0 0 L,15 * *', 'At 00:00 on the last day and day 15 of the month'],
  ['0 9 * * MON#1', 'At 09:00 on the first Monday of the month'],
  ['0 9 * JUL 0#5,7L', 'At 09:00 on the fifth Sunday of the month and the last Sunday of the month in July'],
  ['0 9 L * sat,fril', 'At 09:00 on the last day of the month or on Saturday and the last Friday of the month'],
  ['0 0 */11 * *', 'At 00:00 on every 11th day of the month'],
])('describes %s', (text, description) => {
  const parsed = parseCron(text)
  expect(parsed.ok && describeCron(parsed.cron)).toBe(description)
})
