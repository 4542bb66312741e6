import type { CircuitChange, HealthSignal } from './circuit-breaker.ts'
import { innerWeight, mayTake } from './fair-share.ts'
import { type BlockReason, type Blocks, countPermit, freePermits, nextStart } from './host.ts'
import { tasksAt } from './prefetch-windows.ts'
import { countBlocked, isHalted, isPaused, type Queue, type State, shift, unblock } from './queue.ts'
import type { Holding } from './tenant-levels.ts'

// Prefetched claims share statements with claims of tasks that have a slot, and slow them down. So no claims are
// prefetched for a burst that is over in a moment.
const minBusyMs = 100

/** Starts the next task of a queue. Returns null when the queue is empty or blocked now. */
export function startNext<Task>(state: State<Task>, queue: Queue<Task>): Slot<Task> | null {
  const task = queue.tasks.peekFront()
  if (task === undefined) return null
  const isHeld = isPaused(state, queue) && !state.options.isExempt?.(task)
  const reason = isHeld ? 'host_paused' : blockOf(state, queue)
  if (reason === null) return new Slot(state, queue, task)
  countBlocked(state, queue, queue.tasks.length)
  queue.host.blocked.set(queue, reason)
  return null
}

function blockOf<Task>(state: State<Task>, { host, taken, breaker, workspace, key }: Queue<Task>): BlockReason | null {
  const { options, permitsPerHost, levels, startsPerHost } = state
  const now = options.now()
  if (!breaker.allows(now)) return 'circuit_breaker'
  const free = freePermits(host, levels.accountOf(workspace), permitsPerHost)
  if (!mayTake(taken, free, innerWeight)) return 'host_concurrency'
  if (startsPerHost === null) return null
  const at = nextStart(host, startsPerHost, now)
  if (at <= now) return null
  state.wakeUps.set(key.host, at)
  return 'host_rate'
}

/** A slot of the process and a permit of a host, held for the attempt of a task. A slow call keeps the permit only. */
export class Slot<Task> {
  readonly task: Task
  readonly blocks: Blocks
  readonly #state: State<Task>
  readonly #queue: Queue<Task>
  readonly #holding: Holding
  readonly #account: string
  readonly #generation: number
  /** When its call started for the rate of the host; 0 without a rate, or without a call. */
  #startedAt = 0
  #isReleased = false

  constructor(state: State<Task>, queue: Queue<Task>, task: Task) {
    shift(queue)
    this.task = task
    this.blocks = queue.blocks
    this.#state = state
    this.#queue = queue
    this.#holding = state.levels.take(queue.workspace, queue, queue.tasks.length > 0)
    this.#account = state.levels.accountOf(queue.workspace)
    queue.taken++
    countPermit(queue.host, this.#account, 1)
    this.#generation = queue.breaker.begin()
    if (state.startsPerHost === null) return
    this.#startedAt = state.options.now()
    queue.host.starts?.record(this.#startedAt, state.startsPerHost)
  }

  /**
   * Returns the next tasks of the same queue whose claims are to be prefetched, each task once. Empty unless the queue
   * has had tasks for 100 ms, its attempts complete, and its circuit breaker is closed.
   */
  prefetchNext(): Task[] {
    const { options, startsPerHost } = this.#state
    const { tasks, window, busySince } = this.#queue
    if (startsPerHost !== null) return [] // a rate would keep prefetched claims waiting for longer than they may
    const now = options.now()
    if (isHalted(this.#state, this.#queue) || now - busySince < minBusyMs) return []
    const first = window.size
    return tasksAt(tasks, first, window.extend(tasks.length, now))
  }

  /** Returns the next tasks of the same queue whose claims were prefetched, and that should have a slot within `ms`. */
  startingWithin(ms: number): Task[] {
    const { tasks, window } = this.#queue
    return tasksAt(tasks, 0, window.startingWithin(ms, this.#state.options.now()))
  }

  beginCall(bytes: number): void {
    this.#holding.beginCall(bytes)
  }

  /** Gives the start back to the rate of the host, unless the call has begun. */
  forgetStart(): void {
    if (this.#startedAt === 0 || this.#holding.calledAt !== 0) return
    this.#queue.host.starts?.forget(this.#startedAt)
    this.#startedAt = 0
  }

  /** Releases the slot and the permit, once. Returns how that changed the circuit breaker of the host. */
  release(signal: HealthSignal): CircuitChange {
    if (this.#isReleased) return null
    this.#isReleased = true
    const queue = this.#queue
    this.#holding.release()
    queue.taken--
    countPermit(queue.host, this.#account, -1)
    const now = this.#state.options.now()
    queue.window.recordCompletion(now)
    const change = queue.breaker.end(this.#generation, signal, now)
    unblock(this.#state, queue.host)
    return change
  }
}
