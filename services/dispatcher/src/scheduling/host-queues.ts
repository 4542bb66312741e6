import Denque from 'denque'
import type { CircuitBreaker, CircuitChange, CircuitRules, HealthSignal } from './circuit-breaker.ts'
import { createCircuitBreaker } from './circuit-breaker.ts'
import { evictIdle } from './evict-idle-queues.ts'
import { innerWeight, mayTake } from './fair-share.ts'
import type { BlockReason, Blocks, Host } from './host.ts'
import { countPermit, createHost, freePermits, nextStart, noBlocks } from './host.ts'
import { changedPauses, exemptFirst, type PausedQueues } from './paused-queues.ts'
import { createPrefetchWindows, type PrefetchWindow, type PrefetchWindows, tasksAt } from './prefetch-windows.ts'
import type { StartRate } from './start-window.ts'
import {
  createTenantLevels,
  type Holding,
  type Level,
  type TenantLevels,
  type TenantLevelsOptions,
} from './tenant-levels.ts'

/** A queue: the tasks of one workspace for one host. */
export type QueueKey = { workspace: string; host: string }

/** A slot of the process and a permit of a host, held for the attempt of a task. A slow call keeps the permit only. */
export type Slot<Task> = {
  task: Task
  /** What has blocked the queue. */
  blocks: Blocks
  /**
   * Returns the next tasks of the same queue whose claims are to be prefetched, each task once. There are none unless the
   * queue has had tasks for 100 ms, and attempts of it complete; none while its circuit breaker is not closed.
   */
  prefetchNext(): Task[]
  /** Returns the next tasks of the same queue whose claims were prefetched, and that should have a slot within `ms`. */
  startingWithin(ms: number): Task[]
  /** See `Holding`. */
  beginCall(bytes: number): void
  /** Releases the slot and the permit, once. Returns how that changed the circuit breaker of the host. */
  release(signal: HealthSignal): CircuitChange
}

/** A queue whose circuit breaker is open or half-open. `isWaiting`: it has tasks. */
export type OpenCircuit = QueueKey & { isWaiting: boolean } & Pick<CircuitBreaker, 'probesUntil' | 'isProbing'> & {
    openUntil: number
  }

/**
 * The due tasks of a process that wait for a slot, in a queue for each workspace and host. Slots go round-robin to accounts,
 * their organizations, the workspaces of these, and the hosts of a workspace. An attempt takes a slot of the process and a
 * permit of its host, and leaves some of both to others: a part is reserved for accounts without an attempt in flight. A queue
 * whose host has no permit left, or whose circuit breaker does not allow an attempt, is blocked: its tasks take no slot and
 * delay no other queue. A slow call costs memory only: it takes one of many places for slow calls in place of its slot.
 */
export type HostQueues<Task> = {
  add(task: Task): void
  /** Takes a slot and a permit for the next task; null when no task may start now. */
  next(): Slot<Task> | null
  /** Considers the queues for a host again: a circuit breaker may have become half-open. */
  unblock(host: string): void
  /** Removes and returns the queued tasks that `isTaken` returns true for. */
  take(isTaken: (task: Task) => boolean): Task[]
  /** Applies a change of the tenant of a workspace. */
  move(workspace: string): void
  /**
   * Removes and returns the tasks with prefetched claims that got no slot: they have waited for `ms`, or the circuit breaker
   * of their host is not closed any more.
   */
  takeDelayed(ms: number): Task[]
  /** Removes empty queues that had no attempt for a minute, and of the other empty ones all but some thousands. */
  evictIdle(): void
  /** Returns how many tasks of a workspace are in blocked queues. */
  blockedOf(workspace: string): number
  /** Returns the queues whose circuit breaker is open or half-open, and when it becomes half-open. */
  openCircuits(): OpenCircuit[]
  /** Opens the circuit breaker of a queue, which may be empty. Returns null when it is open for as long already. */
  openCircuit(key: QueueKey, until: number): CircuitChange
  /** Lets this process probe the host of a queue until a time. */
  allowProbes(key: QueueKey, until: number): void
  /** Closes the circuit breaker of a queue. */
  resetCircuit(key: QueueKey): void
  /** Pauses these queues and no others: only exempt tasks start. Returns those that have changed. */
  setPaused(keys: readonly QueueKey[]): QueueKey[]
  /** Changes how many calls to one host may be in flight. Calls beyond a smaller number end as usual. */
  setPermitsPerHost(permits: number): void
  /** Changes how many calls to one host may start in a period. */
  setStartsPerHost(rate: StartRate): void
  /** Returns the hosts that their rate has blocked since the last call, and when to unblock each. */
  takeWakeUps(): Array<{ host: string; at: number }>
  /** Moves calls that have become slow out of their slots, while there are places for them. Returns how many. */
  moveSlowCalls(): number
  readonly slotsTaken: number
  readonly slowCalls: number
  /** Queued tasks with prefetched claims. */
  readonly prefetched: number
}

export type HostQueuesOptions<Task = unknown> = TenantLevelsOptions & {
  permitsPerHost: number
  /** Default: any number of calls to a host may start. */
  startsPerHost?: StartRate | null
  /** Default: `defaultCircuitRules`. */
  circuitRules?: CircuitRules
  /** Whether a task starts although its queue is paused. Default: none does. */
  isExempt?: (task: Task) => boolean
}

type Queue<Task> = {
  id: string
  key: QueueKey
  workspace: Level<Queue<Task>>
  host: Host<Queue<Task>>
  breaker: CircuitBreaker
  blocks: Blocks
  /** Permits that its attempts hold. */
  taken: number
  tasks: Denque<Task>
  /** Since when it has not been empty. */
  busySince: number
  window: PrefetchWindow
}
export type State<Task> = {
  options: HostQueuesOptions<Task>
  windows: PrefetchWindows
  permitsPerHost: number
  startsPerHost: StartRate | null
  wakeUps: Map<string, number>
  levels: TenantLevels<Queue<Task>>
  hosts: Map<string, Host<Queue<Task>>>
  queues: Map<string, Queue<Task>>
  /** How many tasks of each workspace are in blocked queues. */
  blocked: Map<string, number>
  /** The paused queues, by their ids. */
  paused: PausedQueues
}

// Prefetched claims share statements with claims of tasks that have a slot, and slow them down. So no claims are
// prefetched for a burst that is over in a moment.
const minBusyMs = 100

export function createHostQueues<Task extends QueueKey>(options: HostQueuesOptions<Task>): HostQueues<Task> {
  const { slots, now } = options
  const levels = createTenantLevels<Queue<Task>>(options)
  const empty = { hosts: new Map(), queues: new Map(), blocked: new Map(), paused: new Map() }
  const state: State<Task> = {
    options,
    windows: createPrefetchWindows(),
    ...{ levels, ...empty },
    permitsPerHost: options.permitsPerHost,
    startsPerHost: options.startsPerHost ?? null,
    wakeUps: new Map(),
  }
  return {
    get slotsTaken() {
      return slots - levels.free
    },
    get slowCalls() {
      return levels.slowCalls
    },
    get prefetched() {
      return state.windows.size
    },
    blockedOf: workspace => state.blocked.get(workspace) ?? 0,
    add(task) {
      const queue = queueOf(state, task)
      if (queue.tasks.isEmpty()) queue.busySince = now()
      queue.tasks.push(task)
      if (isBlocked(queue)) countBlocked(state, queue, 1)
      else levels.add(queue.workspace, queue)
      if (isPaused(state, queue) && options.isExempt?.(task)) passExempt(state, queue)
    },
    next: () => levels.next(queue => startNext(state, queue)),
    unblock: host => unblock(state, state.hosts.get(host)),
    take: isTaken => [...state.queues.values()].flatMap(queue => take(state, queue, isTaken)),
    move: levels.move,
    takeDelayed: ms => takeDelayed(state, now() - ms),
    setPermitsPerHost(permits) {
      state.permitsPerHost = permits
      for (const host of state.hosts.values()) unblock(state, host)
    },
    setStartsPerHost(rate) {
      state.startsPerHost = rate
      for (const host of state.hosts.values()) unblock(state, host)
    },
    takeWakeUps() {
      if (state.wakeUps.size === 0) return []
      const wakeUps = Array.from(state.wakeUps, ([host, at]) => ({ host, at }))
      state.wakeUps.clear()
      return wakeUps
    },
    moveSlowCalls: levels.moveSlowCalls,
    evictIdle: () => evictIdle(state),
    openCircuits: () =>
      [...state.queues.values()].flatMap(({ key, tasks, breaker: { openUntil, probesUntil, isProbing } }) =>
        openUntil === null ? [] : [{ openUntil, probesUntil, isProbing, isWaiting: !tasks.isEmpty(), ...key }],
      ),
    openCircuit: (key, until) => (queueOf(state, key).breaker.openUntilAtLeast(until) ? { to: 'open', until } : null),
    allowProbes(key, until) {
      state.queues.get(idOf(key))?.breaker.allowProbes(until)
      unblock(state, state.hosts.get(key.host))
    },
    resetCircuit(key) {
      state.queues.get(idOf(key))?.breaker.reset()
      unblock(state, state.hosts.get(key.host))
    },
    setPaused: keys => setPaused(state, new Map(keys.map(key => [idOf(key), key]))),
  }
}

function idOf({ workspace, host }: QueueKey): string {
  return `${workspace} ${host}`
}

function queueOf<Task>(state: State<Task>, key: QueueKey): Queue<Task> {
  const { workspace: workspaceId, host: hostName } = key
  const id = idOf(key)
  const known = state.queues.get(id)
  if (known) return known
  const workspace = state.levels.workspaceOf(workspaceId)
  const host = state.hosts.get(hostName) ?? createHost<Queue<Task>>()
  const queue: Queue<Task> = {
    id,
    key: { workspace: workspaceId, host: hostName },
    workspace,
    host,
    breaker: createCircuitBreaker(state.options.circuitRules),
    blocks: noBlocks,
    taken: 0,
    tasks: new Denque(),
    busySince: 0,
    window: state.windows.open(),
  }
  host.queues++
  state.hosts.set(hostName, host)
  state.queues.set(id, queue)
  return queue
}

function isBlocked<Task>(queue: Queue<Task>): boolean {
  return queue.host.blocked.has(queue)
}

function countBlocked<Task>({ blocked }: State<Task>, { key }: Queue<Task>, by: number): void {
  const tasks = (blocked.get(key.workspace) ?? 0) + by
  if (tasks === 0) blocked.delete(key.workspace)
  else blocked.set(key.workspace, tasks)
}

function unblock<Task>(state: State<Task>, host: Host<Queue<Task>> | undefined): void {
  if (host === undefined || host.blocked.size === 0) return
  const now = state.options.now()
  for (const [queue, reason] of host.blocked) {
    queue.blocks = Object.assign({}, queue.blocks, { [reason]: now })
    countBlocked(state, queue, -queue.tasks.length)
    state.levels.add(queue.workspace, queue)
  }
  host.blocked.clear()
}

function isPaused<Task>({ paused }: State<Task>, { id }: Queue<Task>): boolean {
  return paused.size > 0 && paused.has(id)
}

function setPaused<Task>(state: State<Task>, paused: PausedQueues): QueueKey[] {
  const changed = changedPauses(state.paused, paused)
  state.paused = paused
  for (const key of changed) passExempt(state, queueOf(state, key))
  return changed
}

// The claims that were prefetched at the front are undone first.
function passExempt<Task>(state: State<Task>, queue: Queue<Task>): void {
  const { isExempt } = state.options
  if (isExempt && isPaused(state, queue) && queue.window.size === 0) queue.tasks = exemptFirst(queue.tasks, isExempt)
  unblock(state, queue.host)
}

function take<Task>(state: State<Task>, queue: Queue<Task>, isTaken: (task: Task) => boolean): Task[] {
  const prefetched = queue.window.size
  const [taken, kept]: [Task[], Task[]] = [[], []]
  for (const [i, task] of queue.tasks.toArray().entries()) {
    const isMatch = isTaken(task)
    ;(isMatch ? taken : kept).push(task)
    if (isMatch && i < prefetched) queue.window.shift()
  }
  if (taken.length === 0) return taken
  queue.tasks = new Denque(kept)
  if (isBlocked(queue)) countBlocked(state, queue, -taken.length)
  if (kept.length === 0) queue.host.blocked.delete(queue)
  return taken
}

/** Starts the next task of a queue. Returns null when the queue is empty or blocked now. */
function startNext<Task>(state: State<Task>, queue: Queue<Task>): Slot<Task> | null {
  const task = queue.tasks.peekFront()
  if (task === undefined) return null
  const isHeld = isPaused(state, queue) && !state.options.isExempt?.(task)
  const reason = isHeld ? 'host_paused' : blockOf(state, queue)
  if (reason === null) return new HeldSlot(state, queue, task)
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

class HeldSlot<Task> implements Slot<Task> {
  readonly task: Task
  readonly blocks: Blocks
  readonly #state: State<Task>
  readonly #queue: Queue<Task>
  readonly #holding: Holding
  readonly #account: string
  readonly #generation: number
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
    if (state.startsPerHost !== null) queue.host.starts?.record(state.options.now(), state.startsPerHost)
  }

  // A rate would keep prefetched claims waiting for longer than they may.
  prefetchNext(): Task[] {
    const { options, startsPerHost } = this.#state
    const { tasks, window, busySince } = this.#queue
    if (startsPerHost !== null) return []
    const now = options.now()
    if (isHalted(this.#state, this.#queue) || now - busySince < minBusyMs) return []
    const first = window.size
    return tasksAt(tasks, first, window.extend(tasks.length, now))
  }

  startingWithin(ms: number): Task[] {
    const { tasks, window } = this.#queue
    return tasksAt(tasks, 0, window.startingWithin(ms, this.#state.options.now()))
  }

  beginCall(bytes: number): void {
    this.#holding.beginCall(bytes)
  }

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
    const { openUntil } = queue.breaker
    if (change === 'opened' && openUntil !== null) return { to: 'open', until: openUntil }
    return change === 'closed' ? { to: 'closed' } : null
  }
}

// The window is at the front of its queue.
function shift<Task>({ tasks, window }: Queue<Task>): Task | undefined {
  window.shift()
  return tasks.shift()
}

function takeDelayed<Task>(state: State<Task>, since: number): Task[] {
  if (state.windows.size === 0) return []
  const delayed: Task[] = []
  for (const queue of state.queues.values()) {
    const { window } = queue
    while (window.oldest !== null && (window.oldest <= since || isHalted(state, queue))) {
      const task = shift(queue)
      if (task !== undefined) delayed.push(task)
      if (isBlocked(queue)) countBlocked(state, queue, -1)
    }
    if (isPaused(state, queue)) passExempt(state, queue)
  }
  return delayed
}

function isHalted<Task>(state: State<Task>, queue: Queue<Task>): boolean {
  return queue.breaker.openUntil !== null || isPaused(state, queue)
}
