/**
 * How long the steps of a call took, in milliseconds. Null: the call had no such step, or did not complete it. A call on a
 * kept-alive connection has only a first byte.
 */
export type RunTimings = {
  dnsMs: number | null
  /** The TCP connect, or the tunnel through an egress proxy. */
  connectMs: number | null
  tlsMs: number | null
  /** From the first byte of the request to the first byte of the response. */
  firstByteMs: number | null
}
