/** Why a queue may start no attempt now. */
export type BlockReason = 'circuit_breaker' | 'host_concurrency' | 'host_rate'

/** When each reason stopped to block a queue last, in milliseconds of the queues' clock. */
export type Blocks = Readonly<Partial<Record<BlockReason, number>>>

export const noBlocks: Blocks = {}

/** Returns whether something blocked a queue at a time, or later. */
export function wasBlocked(blocks: Blocks, since: number): boolean {
  const { circuit_breaker: breaker = 0, host_concurrency: concurrency = 0, host_rate: rate = 0 } = blocks
  return Math.max(breaker, concurrency, rate) > since
}
