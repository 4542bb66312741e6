/** Cron expressions that are refused, and what the message says. */
export const refusedExpressions: Array<[string, RegExp]> = [
  ['', /exactly 5 fields/],
  ['* * * *', /it has 4/],
  ['* * * * * *', /it has 6/],
  ['@daily', /exactly 5 fields/],
  ['0 0 L-2 * *', /day of month: .*last/],
  ['0 0 15W * *', /day of month: .*weekday/],
  ['0 0 * * 5#6', /day of week: .*number in the month/],
  ['0 0 ? * *', /day of month: .*\?/],
  ['60 * * * *', /minute: .*0 to 59/],
  ['*/0 * * * *', /minute: the step/],
  [`${'1,'.repeat(5000)}1 * * * *`, /at most 1000 characters/],
  ['*\u00a0* * * *', /ordinary spaces.*U\+00A0/],
  ['*\n* * * *', /ordinary spaces.*U\+000A/],
  ['0 0 31 2 *', /never fires/],
]
