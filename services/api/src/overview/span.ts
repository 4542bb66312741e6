/** A stretch of time in equal steps, of which each is shown as one point. */
export type Span = { fromMs: number; bucketMs: number; count: number }

/** When a span begins and how long a bucket is, as parameters of a statement. */
export function spanValues({ fromMs, bucketMs }: Span): [from: Date, bucket: string] {
  return [new Date(fromMs), `${bucketMs} milliseconds`]
}
