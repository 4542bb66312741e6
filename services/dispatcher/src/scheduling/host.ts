import { accountHeadroom } from './fair-share.ts'
import { createStartWindow, type StartRate, type StartWindow } from './start-window.ts'

export type BlockReason = 'circuit_breaker' | 'host_paused' | 'host_concurrency' | 'host_rate'

/** When each reason stopped to block a queue last, in milliseconds of the queues' clock. */
export type Blocks = Readonly<Partial<Record<BlockReason, number>>>

export const noBlocks: Blocks = {}

/** A host: the permits that the attempts of all workspaces share, and the queues that it blocks now. */
export type Host<Queue> = {
  taken: number
  /** The permits that the attempts of each account hold. */
  takenBy: Map<string, number>
  blocked: Map<Queue, BlockReason>
  queues: number
  /** Null while there is no limit for the calls that start in a period. */
  starts: StartWindow | null
}

export function createHost<Queue>(): Host<Queue> {
  return { taken: 0, takenBy: new Map(), blocked: new Map(), queues: 0, starts: null }
}

/** Takes a permit for an account, or gives one back. */
export function countPermit(host: Host<unknown>, account: string, by: 1 | -1): void {
  host.taken += by
  const ofAccount = (host.takenBy.get(account) ?? 0) + by
  if (ofAccount === 0) host.takenBy.delete(account)
  else host.takenBy.set(account, ofAccount)
}

/** Returns how many more of its permits an account may take. */
export function freePermits({ taken, takenBy }: Host<unknown>, account: string, permits: number): number {
  return accountHeadroom(takenBy.get(account) ?? 0, permits - taken, permits)
}

export function nextStart(host: Host<unknown>, rate: StartRate, now: number): number {
  host.starts ??= createStartWindow()
  return host.starts.nextAt(rate, now)
}

/** Returns whether something blocked a queue at a time, or later. */
export function wasBlocked(blocks: Blocks, since: number): boolean {
  return blocks !== noBlocks && Object.values(blocks).some(at => at > since)
}
