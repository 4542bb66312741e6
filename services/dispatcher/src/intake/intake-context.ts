import type { DispatcherRow } from '@belfry/db/dispatchers/heartbeat'
import type { Waker } from '@belfry/runtime'
import type { AttemptContext } from '../attempt/attempt-context.ts'
import type { AttemptsInFlight } from '../attempt/attempts-in-flight.ts'
import type { HeldClaims } from '../attempt/held-claims.ts'
import type { SendJournal } from '../attempt/send-journal.ts'
import type { HostQueues } from '../scheduling/host-queues.ts'
import type { Backlog } from './backlog.ts'
import type { DueTimers } from './due-timers.ts'
import type { Share } from './share.ts'
import type { BufferedTask, TaskBuffer } from './task-buffer.ts'
import type { Tenants } from './tenants.ts'

/** What the intake needs. The README of this folder shows how a task moves through it. */
export type IntakeContext = AttemptContext & {
  /** This process among all dispatchers, with its heartbeat. */
  dispatcher: DispatcherRow
  journal: SendJournal
  held: HeldClaims
  attempts: AttemptsInFlight
  tenants: Tenants
  /** Woken when the tenants may have changed. */
  tenantsWaker: Waker
  /** Woken when a circuit breaker has changed, here or in another dispatcher. */
  circuitsWaker: Waker
  /** Every task that this process has taken and not claimed for an attempt. */
  buffer: TaskBuffer
  /** The buffered tasks that are not due yet. */
  timers: DueTimers<BufferedTask>
  /**
   * The buffered tasks that are due and wait for an access token. They wait without a claim and a slot. Otherwise their
   * calls would all start together when a slow token endpoint answers.
   */
  deferred: Map<BufferedTask, Promise<unknown>>
  /** The buffered tasks that are due. */
  hostQueues: HostQueues<BufferedTask>
  /** How long a host may ask all calls of a workspace to pause with `Retry-After`; 0: it may not. */
  retryAfterMaxMs: number
  backlog: Backlog
  /** Woken when a workspace enters the backlog. */
  backlogWaker: Waker
  /** Woken when claims are prefetched. */
  prefetchWaker: Waker
  /** The part of the tasks in PostgreSQL that this dispatcher takes. */
  share: Share
}
