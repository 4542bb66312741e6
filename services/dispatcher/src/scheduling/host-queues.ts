import Denque from 'denque'
import type { CircuitChange } from './circuit-breaker.ts'
import { createPrefetchWindows } from './prefetch-windows.ts'
import {
  countBlocked,
  type HostQueuesOptions,
  idOf,
  isBlocked,
  isHalted,
  isPaused,
  passExempt,
  type Queue,
  type QueueKey,
  queueOf,
  type State,
  shift,
  unblock,
} from './queue.ts'
import { type Slot, startNext } from './slot.ts'
import type { StartRate } from './start-window.ts'
import { createTenantLevels } from './tenant-levels.ts'

const maxIdleQueues = 10_000

/**
 * Keeps the due tasks of a process that wait for a slot, in a queue for each workspace and host. Slots go round-robin to
 * accounts, their organizations, the workspaces of these, and the hosts of a workspace. An attempt takes a slot of the
 * process and a permit of its host, and leaves some of both to others: a part is reserved for accounts without an
 * attempt in flight. A queue whose host has no permit left, or whose circuit breaker does not allow an attempt, is
 * blocked: its tasks do not take slots or delay other queues. A slow call costs memory only: it takes one of many
 * places for slow calls in place of its slot.
 */
export function createHostQueues<Task extends QueueKey>(options: HostQueuesOptions<Task>) {
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
    get slotsTaken(): number {
      return slots - levels.free
    },
    get slowCalls(): number {
      return levels.slowCalls
    },
    /** Queued tasks with prefetched claims. */
    get prefetched(): number {
      return state.windows.size
    },
    /** Returns how many tasks of a workspace are in blocked queues. */
    blockedOf: (workspace: string): number => state.blocked.get(workspace) ?? 0,
    add(task: Task): void {
      const queue = queueOf(state, task)
      if (queue.tasks.isEmpty()) queue.busySince = now()
      queue.tasks.push(task)
      if (isBlocked(queue)) countBlocked(state, queue, 1)
      else levels.add(queue.workspace, queue)
      if (isPaused(state, queue) && options.isExempt?.(task)) passExempt(state, queue)
    },
    /** Returns whether a pause keeps a task from starting. */
    isHeld: (task: Task): boolean => state.paused.has(idOf(task)) && !options.isExempt?.(task),
    /** Takes a slot and a permit for the next task; null when no task may start now. */
    next: (): Slot<Task> | null => levels.next(queue => startNext(state, queue)),
    /** Considers the queues for a host again: a circuit breaker may have become half-open. */
    unblock: (host: string): void => unblock(state, state.hosts.get(host)),
    /** Removes and returns the queued tasks that `isTaken` returns true for. */
    take: (isTaken: (task: Task) => boolean): Task[] =>
      [...state.queues.values()].flatMap(queue => take(state, queue, isTaken)),
    move: levels.move,
    /**
     * Removes and returns the tasks with prefetched claims that did not get a slot: they have waited for `ms`, or the
     * circuit breaker of their host is not closed any more.
     */
    takeDelayed: (ms: number): Task[] => takeDelayed(state, now() - ms),
    /**
     * Changes how many calls to one host may be in flight, and start in a period; null: any number may start. Calls beyond a
     * smaller number end as usual.
     */
    setLimits(permitsPerHost: number, startsPerHost: StartRate | null): void {
      state.permitsPerHost = permitsPerHost
      state.startsPerHost = startsPerHost
      for (const host of state.hosts.values()) unblock(state, host)
    },
    /** Returns the hosts that their rate has blocked since the last call, and when to unblock each. */
    takeWakeUps(): Array<{ host: string; at: number }> {
      if (state.wakeUps.size === 0) return []
      const wakeUps = Array.from(state.wakeUps, ([host, at]) => ({ host, at }))
      state.wakeUps.clear()
      return wakeUps
    },
    /** Moves calls that have become slow out of their slots, while there are places for them. Returns how many. */
    moveSlowCalls: levels.moveSlowCalls,
    /** Removes empty queues that had no attempt for a minute, and of the other empty ones all but some thousands. */
    evictIdle: (): void => evictIdle(state),
    /**
     * Returns the queues whose circuit breaker is open or half-open, and when it becomes half-open. `isWaiting`: a queue has
     * tasks.
     */
    openCircuits: () =>
      [...state.queues.values()].flatMap(({ key, tasks, breaker: { openUntil, probesUntil, isProbing } }) =>
        openUntil === null ? [] : [{ openUntil, probesUntil, isProbing, isWaiting: !tasks.isEmpty(), ...key }],
      ),
    /** Opens the circuit breaker of a queue, even of an empty one. Returns null when it is open for as long already. */
    openCircuit: (key: QueueKey, until: number): CircuitChange => queueOf(state, key).breaker.openUntilAtLeast(until),
    /** Lets this process probe the host of a queue until a time. */
    allowProbes(key: QueueKey, until: number): void {
      state.queues.get(idOf(key))?.breaker.allowProbes(until)
      unblock(state, state.hosts.get(key.host))
    },
    resetCircuit(key: QueueKey): void {
      state.queues.get(idOf(key))?.breaker.reset()
      unblock(state, state.hosts.get(key.host))
    },
    /** Pauses exactly these queues: only their exempt tasks start. Returns those that have changed. */
    setPaused: (keys: readonly QueueKey[]): QueueKey[] => setPaused(state, new Map(keys.map(key => [idOf(key), key]))),
  }
}

function setPaused<Task>(state: State<Task>, paused: State<Task>['paused']): QueueKey[] {
  const before = state.paused
  const changed = [...before, ...paused].flatMap(([id, key]) => (before.has(id) && paused.has(id) ? [] : [key]))
  state.paused = paused
  for (const key of changed) passExempt(state, queueOf(state, key))
  return changed
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

function evictIdle<Task>({ options, queues, hosts, levels }: State<Task>): void {
  const now = options.now()
  const idle = [...queues.values()].filter(({ tasks, taken }) => tasks.isEmpty() && taken === 0)
  const surplus = idle.length - maxIdleQueues
  for (const [i, queue] of idle.entries()) {
    if (i >= surplus && !queue.breaker.isIdle(now)) continue
    queues.delete(queue.id)
    if (--queue.host.queues === 0) hosts.delete(queue.key.host)
  }
  levels.evictExcept(Array.from(queues.values(), ({ workspace }) => workspace))
}
