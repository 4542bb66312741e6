const bucketsPerDoubling = 4

/**
 * Returns an SQL expression for the bucket of a lag in whole milliseconds. Bucket 0 is a lag of 0 ms. Bucket b is a lag from
 * 2^((b - 1) / 4) ms up to 2^(b / 4) ms, so any value of a bucket is within 10 % of its middle.
 */
export function lagBucketSql(ms: string): string {
  // The addend keeps an exact power of two from falling into the bucket below.
  return `CASE WHEN ${ms} < 1 THEN 0 ELSE floor(${bucketsPerDoubling} * ln(${ms}::float8) / ln(2::float8) + 1e-9)::int + 1 END`
}

/** Returns the lag in whole milliseconds that stands for every lag of a bucket: its geometric middle. */
export function lagOfBucket(bucket: number): number {
  if (bucket === 0) return 0
  const min = Math.ceil(2 ** ((bucket - 1) / bucketsPerDoubling) - 1e-6)
  const max = Math.max(min, Math.ceil(2 ** (bucket / bucketsPerDoubling) - 1e-6) - 1)
  return Math.round(Math.sqrt(min * max))
}
