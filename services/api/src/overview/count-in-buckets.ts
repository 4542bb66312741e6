import type { Span } from './span.ts'

/** Counts instants by the bucket that they lie in; those outside of the span do not count. */
export function countInBuckets({ fromMs, bucketMs, count }: Span, instants: readonly number[]): number[] {
  const counts = Array.from({ length: count }, () => 0)
  for (const at of instants) {
    const index = Math.floor((at - fromMs) / bucketMs)
    const before = counts[index]
    if (before !== undefined) counts[index] = before + 1
  }
  return counts
}
