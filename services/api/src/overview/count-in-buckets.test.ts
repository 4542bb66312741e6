import { expect, it } from 'vitest'
import { countInBuckets } from './count-in-buckets.ts'

it('counts each instant in the bucket that it lies in: from its beginning on, before its end', () => {
  const span = { fromMs: 1000, bucketMs: 100, count: 3 }
  expect(countInBuckets(span, [999, 1000, 1099, 1100, 1299, 1300])).toEqual([2, 1, 1])
})
