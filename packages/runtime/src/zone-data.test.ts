import { expect, it } from 'vitest'
import { zoneData } from './zone-data.ts'

it('returns the version of this process’s own rules', () => {
  expect(zoneData(new Date())).toMatchObject({ version: process.versions.tz })
})

it.each([
  ['2025c', '2026-06-30T23:59:59Z', false],
  ['2025c', '2026-07-01T00:00:00Z', true],
  ['2026a', '2026-11-21T00:00:00Z', false],
  ['2024b', '2026-11-21T00:00:00Z', true],
  ['unknown', '2026-11-21T00:00:00Z', true],
])('judges %s on %s', (version, now, is_old) => {
  expect(zoneData(new Date(now), version)).toEqual({ version, is_old })
})
