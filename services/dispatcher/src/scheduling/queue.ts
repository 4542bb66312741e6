import Denque from 'denque'
import { type CircuitBreaker, type CircuitRules, createCircuitBreaker } from './circuit-breaker.ts'
import { type Blocks, createHost, type Host, noBlocks } from './host.ts'
import type { PrefetchWindow, PrefetchWindows } from './prefetch-windows.ts'
import type { StartRate } from './start-window.ts'
import type { Level, TenantLevels, TenantLevelsOptions } from './tenant-levels.ts'

/** A queue: the tasks of one workspace for one host. */
export type QueueKey = { workspace: string; host: string }

export type Queue<Task> = {
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

/** The queues of a process, and what they share. */
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
  paused: ReadonlyMap<string, QueueKey>
}

export type HostQueuesOptions<Task = unknown> = TenantLevelsOptions & {
  permitsPerHost: number
  /** Default: any number of calls to a host may start. */
  startsPerHost?: StartRate | null
  /** Default: `defaultCircuitRules`. */
  circuitRules?: CircuitRules
  /** Whether a task starts although its queue is paused. Optional. */
  isExempt?: (task: Task) => boolean
}

export function idOf({ workspace, host }: QueueKey): string {
  return `${workspace} ${host}`
}

export function queueOf<Task>(state: State<Task>, key: QueueKey): Queue<Task> {
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

export function isBlocked<Task>(queue: Queue<Task>): boolean {
  return queue.host.blocked.has(queue)
}

export function countBlocked<Task>({ blocked }: State<Task>, { key }: Queue<Task>, by: number): void {
  const tasks = (blocked.get(key.workspace) ?? 0) + by
  if (tasks === 0) blocked.delete(key.workspace)
  else blocked.set(key.workspace, tasks)
}

export function unblock<Task>(state: State<Task>, host: Host<Queue<Task>> | undefined): void {
  if (host === undefined || host.blocked.size === 0) return
  const now = state.options.now()
  for (const [queue, reason] of host.blocked) {
    queue.blocks = Object.assign({}, queue.blocks, { [reason]: now })
    countBlocked(state, queue, -queue.tasks.length)
    state.levels.add(queue.workspace, queue)
  }
  host.blocked.clear()
}

export function isPaused<Task>({ paused }: State<Task>, { id }: Queue<Task>): boolean {
  return paused.size > 0 && paused.has(id)
}

// The tasks that a pause lets pass come first. The claims that were prefetched at the front are undone before that.
export function passExempt<Task>(state: State<Task>, queue: Queue<Task>): void {
  const { isExempt } = state.options
  if (isExempt && isPaused(state, queue) && queue.window.size === 0) {
    const all = queue.tasks.toArray()
    queue.tasks = new Denque([...all.filter(isExempt), ...all.filter(task => !isExempt(task))])
  }
  unblock(state, queue.host)
}

// The window is at the front of its queue.
export function shift<Task>({ tasks, window }: Queue<Task>): Task | undefined {
  window.shift()
  return tasks.shift()
}

export function isHalted<Task>(state: State<Task>, queue: Queue<Task>): boolean {
  return queue.breaker.openUntil !== null || isPaused(state, queue)
}
