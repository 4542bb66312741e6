import { expect, it } from 'vitest'
import { sortedQuery } from './saved-filters.tsx'

it('knows saved filters in any order, also of an earlier version', () => {
  expect(sortedQuery('source=cron_job&range=24h')).toBe(sortedQuery('range=24h&source=cron_job'))
  expect(sortedQuery('state=dead&state=success')).not.toBe(sortedQuery('state=dead&state=success&range=24h'))
  expect(sortedQuery('name=a')).not.toBe(sortedQuery('name=b'))
})
