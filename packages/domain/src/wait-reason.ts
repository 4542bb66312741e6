/** What a late attempt waited for: the reason of the longest part of its wait. */
export const waitReasons = [
  'queue',
  'scheduler',
  'dispatcher',
  'backlog',
  'circuit_breaker',
  'host_paused',
  'host_concurrency',
  'host_rate',
  'slot',
  'database',
] as const

export type WaitReason = (typeof waitReasons)[number]

/** From this wait on an attempt is late, in milliseconds. */
export const lateMs = 1_000
