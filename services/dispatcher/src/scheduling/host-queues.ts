import Denque from 'denque'
import { type CircuitBreaker, createCircuitBreaker, type HealthSignal } from './circuit-breaker.ts'
import { mayTake } from './fair-share.ts'
import { createPrefetchWindows, type PrefetchWindow, type PrefetchWindows } from './prefetch-windows.ts'

/** A queue: the tasks of one workspace for one host. */
export type QueueKey = { workspace: string; host: string }

/** A slot of the process and a permit of a host, held for the attempt of a task. */
export type Slot<Task> = {
  task: Task
  /**
   * Returns the next tasks of the same queue whose claims are to be prefetched, each task once. There are none unless the
   * queue has had tasks for 100 ms, and attempts of it complete; none while its circuit breaker is not closed.
   */
  prefetchNext(): Task[]
  /** Releases the slot and the permit, once. Returns how that changed the circuit breaker of the host. */
  release(signal: HealthSignal): CircuitChange
}

export type CircuitChange = { to: 'open'; until: number } | { to: 'closed' } | null

/**
 * The due tasks of a process that wait for a slot, in a queue for each workspace and host. Slots go round-robin to the
 * workspaces, and within a workspace to its hosts. An attempt takes a slot of the process and a permit of its host, and
 * leaves some of both to other workspaces. A queue whose host has no permit left, or whose circuit breaker does not allow
 * an attempt, is blocked: its tasks take no slot and delay no other queue.
 */
export type HostQueues<Task> = {
  add(task: Task): void
  /** Takes a slot and a permit for the next task; null when no task may start now. */
  next(): Slot<Task> | null
  /** Considers the queues for a host again: a circuit breaker may have become half-open. */
  unblock(host: string): void
  /** Removes and returns every queued task. */
  takeAll(): Task[]
  /**
   * Removes and returns the tasks with prefetched claims that got no slot: they have waited for `ms`, or the circuit breaker
   * of their host is not closed any more.
   */
  takeDelayed(ms: number): Task[]
  /** Removes empty queues that had no attempt for a minute, and of the other empty ones all but some thousands. */
  evictIdle(): void
  /** Returns how many tasks of a workspace are in blocked queues. */
  blockedOf(workspace: string): number
  /** Returns the queues whose circuit breaker is open or half-open. */
  openCircuits(): QueueKey[]
  /** Closes the circuit breaker of a queue. */
  resetCircuit(key: QueueKey): void
  readonly slotsTaken: number
  /** Queued tasks with prefetched claims. */
  readonly prefetched: number
}

export type HostQueuesOptions = {
  slots: number
  permitsPerHost: number
  /** Milliseconds; only differences matter. */
  now: () => number
}

type Workspace<Task> = { taken: number; blocked: number; ready: Set<Queue<Task>> }
type Host<Task> = { taken: number; blocked: Set<Queue<Task>>; queues: number }
type Queue<Task> = {
  id: string
  key: QueueKey
  workspace: Workspace<Task>
  host: Host<Task>
  breaker: CircuitBreaker
  /** Slots that its attempts hold. */
  taken: number
  tasks: Denque<Task>
  /** Since when it has not been empty. */
  busySince: number
  window: PrefetchWindow
}
type State<Task> = {
  options: HostQueuesOptions
  free: number
  windows: PrefetchWindows
  workspaces: Map<string, Workspace<Task>>
  hosts: Map<string, Host<Task>>
  queues: Map<string, Queue<Task>>
  /** The workspaces with queues that are not blocked; the next one in rotation is first. */
  ready: Set<Workspace<Task>>
}

// A workspace alone gets at most nine tenths of the slots, and of the permits of a host.
const weight = 9
const maxIdleQueues = 10_000
// Prefetched claims share statements with claims of tasks that have a slot, and slow them down. So no claims are
// prefetched for a burst that is over in a moment.
const minBusyMs = 100

export function createHostQueues<Task extends QueueKey>(options: HostQueuesOptions): HostQueues<Task> {
  const empty = { workspaces: new Map(), hosts: new Map(), queues: new Map(), ready: new Set<Workspace<Task>>() }
  const state: State<Task> = { options, free: options.slots, windows: createPrefetchWindows(), ...empty }
  return {
    get slotsTaken() {
      return options.slots - state.free
    },
    get prefetched() {
      return state.windows.size
    },
    blockedOf: workspace => state.workspaces.get(workspace)?.blocked ?? 0,
    add(task) {
      const queue = queueOf(state, task)
      if (queue.tasks.isEmpty()) queue.busySince = options.now()
      queue.tasks.push(task)
      if (isBlocked(queue)) queue.workspace.blocked++
      else makeReady(state, queue)
    },
    next: () => next(state),
    unblock(host) {
      const known = state.hosts.get(host)
      if (known) unblock(state, known)
    },
    takeAll() {
      for (const host of state.hosts.values()) unblock(state, host)
      return [...state.queues.values()].flatMap(({ tasks, window }) => {
        const all = tasks.toArray()
        tasks.clear()
        window.clear()
        return all
      })
    },
    takeDelayed: ms => takeDelayed(state, options.now() - ms),
    evictIdle: () => evictIdle(state),
    openCircuits: () => [...state.queues.values()].filter(hasOpenCircuit).map(({ key }) => key),
    resetCircuit({ workspace, host }) {
      state.queues.get(`${workspace} ${host}`)?.breaker.reset()
      const known = state.hosts.get(host)
      if (known) unblock(state, known)
    },
  }
}

function queueOf<Task>(state: State<Task>, { workspace: workspaceId, host: hostName }: QueueKey): Queue<Task> {
  const id = `${workspaceId} ${hostName}`
  const known = state.queues.get(id)
  if (known) return known
  const workspace = state.workspaces.get(workspaceId) ?? { taken: 0, blocked: 0, ready: new Set() }
  const host = state.hosts.get(hostName) ?? { taken: 0, blocked: new Set(), queues: 0 }
  const queue: Queue<Task> = {
    id,
    key: { workspace: workspaceId, host: hostName },
    workspace,
    host,
    breaker: createCircuitBreaker(),
    taken: 0,
    tasks: new Denque(),
    busySince: 0,
    window: state.windows.open(),
  }
  host.queues++
  state.workspaces.set(workspaceId, workspace)
  state.hosts.set(hostName, host)
  state.queues.set(id, queue)
  return queue
}

function isBlocked<Task>(queue: Queue<Task>): boolean {
  return queue.host.blocked.has(queue)
}

function makeReady<Task>({ ready }: State<Task>, queue: Queue<Task>): void {
  queue.workspace.ready.add(queue)
  ready.add(queue.workspace)
}

function block<Task>(queue: Queue<Task>): void {
  queue.workspace.ready.delete(queue)
  queue.workspace.blocked += queue.tasks.length
  queue.host.blocked.add(queue)
}

function unblock<Task>(state: State<Task>, host: Host<Task>): void {
  for (const queue of host.blocked) {
    queue.workspace.blocked -= queue.tasks.length
    makeReady(state, queue)
  }
  host.blocked.clear()
}

function next<Task>(state: State<Task>): Slot<Task> | null {
  if (state.free === 0) return null
  for (const workspace of state.ready) {
    if (!mayTake(workspace.taken, state.free, weight)) continue
    for (const queue of workspace.ready) {
      const task = queue.tasks.peekFront()
      if (task !== undefined && mayStart(state, queue)) return start(state, queue, task)
      block(queue)
    }
    state.ready.delete(workspace)
  }
  return null
}

function mayStart<Task>({ options }: State<Task>, { host, taken, breaker }: Queue<Task>): boolean {
  return mayTake(taken, options.permitsPerHost - host.taken, weight) && breaker.allows(options.now())
}

// The queue and its workspace go to the end of their rotations.
function start<Task>(state: State<Task>, queue: Queue<Task>, task: Task): Slot<Task> {
  shift(queue)
  moveToEnd(queue.workspace.ready, queue, queue.tasks.length > 0)
  moveToEnd(state.ready, queue.workspace, queue.workspace.ready.size > 0)
  count(state, queue, 1)
  const generation = queue.breaker.begin()
  let isReleased = false
  return {
    task,
    prefetchNext: () => prefetchNext(state, queue),
    release(signal) {
      if (isReleased) return null
      isReleased = true
      count(state, queue, -1)
      const now = state.options.now()
      queue.window.recordCompletion(now)
      const change = queue.breaker.end(generation, signal, now)
      unblock(state, queue.host)
      const { openUntil } = queue.breaker
      if (change === 'opened' && openUntil !== null) return { to: 'open', until: openUntil }
      return change === 'closed' ? { to: 'closed' } : null
    },
  }
}

function moveToEnd<T>(rotation: Set<T>, item: T, stays: boolean): void {
  rotation.delete(item)
  if (stays) rotation.add(item)
}

function count<Task>(state: State<Task>, queue: Queue<Task>, by: 1 | -1): void {
  state.free -= by
  for (const counter of [queue, queue.host, queue.workspace]) counter.taken += by
}

// The window is at the front of its queue.
function shift<Task>({ tasks, window }: Queue<Task>): Task | undefined {
  window.shift()
  return tasks.shift()
}

function prefetchNext<Task>({ options }: State<Task>, queue: Queue<Task>): Task[] {
  const { tasks, window, busySince } = queue
  const now = options.now()
  if (hasOpenCircuit(queue) || now - busySince < minBusyMs) return []
  const first = window.size
  const added = window.extend(tasks.length, now)
  return Array.from({ length: added }, (_, i) => tasks.peekAt(first + i)).filter(task => task !== undefined)
}

function takeDelayed<Task>({ windows, queues }: State<Task>, since: number): Task[] {
  const delayed: Task[] = []
  if (windows.size === 0) return delayed
  for (const queue of queues.values()) {
    const { window } = queue
    while (window.oldest !== null && (window.oldest <= since || hasOpenCircuit(queue))) {
      const task = shift(queue)
      if (task !== undefined) delayed.push(task)
      if (isBlocked(queue)) queue.workspace.blocked--
    }
  }
  return delayed
}

function hasOpenCircuit<Task>({ breaker }: Queue<Task>): boolean {
  return breaker.openUntil !== null
}

function evictIdle<Task>({ options, queues, hosts, workspaces }: State<Task>): void {
  const now = options.now()
  const idle = [...queues.values()].filter(({ tasks, taken }) => tasks.isEmpty() && taken === 0)
  const surplus = idle.length - maxIdleQueues
  for (const [i, queue] of idle.entries()) {
    if (i >= surplus && !queue.breaker.isIdle(now)) continue
    queues.delete(queue.id)
    if (--queue.host.queues === 0) hosts.delete(queue.key.host)
  }
  const inUse = new Set([...queues.values()].map(({ key }) => key.workspace))
  for (const id of workspaces.keys()) if (!inUse.has(id)) workspaces.delete(id)
}
