import { expect, it } from 'vitest'
import { judgeDisk } from './data-folder.ts'

const gigabyte = 1024 ** 3

it.each([
  ['problem', 0.4, 1],
  ['problem', 1.9, 100],
  ['warning', 1.9, 10],
  ['warning', 9, 100],
  ['ok', 11, 100],
  ['ok', 3, 10],
])('returns %s for %d free of %d GB', (level, free, size) => {
  expect(judgeDisk('/data', free * gigabyte, size * gigabyte)).toMatchObject([{ level }])
})
