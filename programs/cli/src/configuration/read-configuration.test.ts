import { expect, it } from 'vitest'
import { UsageError } from '../usage-error.ts'
import { readConfiguration } from './read-configuration.ts'

const read = (text: string) => readConfiguration(text, { variables: {}, env: {} })
const job = (cron: string) =>
  `project: shop\ncron_jobs:\n  report:\n    url: https://example.com\n    cron: ${cron}\n    timezone: UTC\n`

it.each(['*/5 * * * *', '* * * * *', '*', '@hourly', '*daily', '*/5 * * * MON # often'])(
  'asks for quotes around %s, in one line',
  cron => {
    const sign = cron.slice(0, 1)
    const problem = `cron: put it into quotes, because it begins with ${sign} (line 5)`
    expect(() => read(job(cron))).toThrow(new UsageError(problem))
    expect(read(job(`"${cron.startsWith('*/5') ? cron.replace(/ #.*/, '') : '0 9 * * *'}"`)).objects).toHaveLength(1)
  },
)

it('names every such value of a file, and other faults of YAML as they are', () => {
  const two = 'project: shop\nsecrets:\n  - *x\ncron_jobs: {a: {cron: */5 * * * *}}\n'
  expect(() => read(two)).toThrow(
    new UsageError(
      'cron: put it into quotes, because it begins with * (line 4)\nThe entry: put it into quotes, because it begins with * (line 3)',
    ),
  )
  expect(() => read('project: a: b\n')).toThrow(/Nested mappings/)
})

it('takes an alias that has an anchor', () => {
  const text = `${job('&often "*/5 * * * *"')}  other:\n    url: https://example.com\n    cron: *often\n`
  expect(read(text).objects.map(({ body }) => body.cron)).toEqual(['*/5 * * * *', '*/5 * * * *'])
})
