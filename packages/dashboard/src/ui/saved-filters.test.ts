import { expect, it } from 'vitest'
import { isSame } from './saved-filters.tsx'

it('knows saved filters in any order, also of an earlier version', () => {
  expect(isSame('source=cron_job&range=24h', 'range=24h&source=cron_job')).toBe(true)
  expect(isSame('state=dead&state=success', 'state=dead&state=success&range=24h')).toBe(false)
  expect(isSame('name=a', 'name=b')).toBe(false)
})
