/** A period in equal buckets. */
export type Span = { fromMs: number; bucketMs: number; count: number }

/** Returns the begin of a span and the length of a bucket as parameters of a statement. */
export function spanValues({ fromMs, bucketMs }: Span): [from: Date, bucket: string] {
  return [new Date(fromMs), `${bucketMs} milliseconds`]
}
