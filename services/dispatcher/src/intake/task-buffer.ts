import { mayTake } from '../scheduling/fair-share.ts'
import type { Slot } from '../scheduling/slot.ts'
import type { PendingClaim } from './pending-claim.ts'

/** A task that this process has learned of. */
export type IncomingTask = {
  /** UUIDs. */
  id: string
  workspace: string
  /** Epoch milliseconds by the database's clock. */
  dueAt: number
  /** The origin of its URL, as it is spelled there. */
  origin: string
  host: string
  /** Whether its queue has a limit, as far as this process knows. */
  isQueued?: boolean
  /** Whether it was read from the backlog after the buffer had refused tasks of its workspace. */
  isBacklog?: boolean
}

/** A task in the buffer: it waits for its time, is queued, or is being claimed. */
export type BufferedTask = IncomingTask & {
  /** When the process learned of it, by `performance.now()`. */
  bufferedAt: number
  isBacklog: boolean
  /** Its place in the buffer, until it is evicted. */
  entry?: BufferEntry | undefined
  pendingClaim?: PendingClaim | undefined
  /** The credentials for which it waits, or has waited: see `Context.deferred`. */
  waited: Promise<unknown> | null
  /** Identifies its claim when the answer is unknown. */
  token?: string | undefined
  /** Gets the slot of a task in quarantine, whose attempt another process makes. Default: this process makes the attempt. */
  onSlot?: (slot: Slot<BufferedTask>) => void
}

type Workspace = { id: string; count: number; hosts: Map<string, Host> }
type Host = { name: string; count: number; workspace: Workspace }
type BufferEntry = { key: string; host: Host; account: string }

// A few megabytes, and more than a dispatcher can start in a second.
const capacity = 20_000
// An account alone gets at most nine tenths of the capacity, a workspace half, and one of its hosts a third.
const accountWeight = 9
const weight = 1

/** Keeps the tasks that a process holds in memory. A single account, workspace or host cannot fill the buffer. */
export function createTaskBuffer() {
  const keys = new Set<string>()
  const workspaces = new Map<string, Workspace>()
  const accounts = new Map<string, number>()

  function hostOf({ workspace: id, host: name }: IncomingTask): Host {
    const workspace = workspaces.get(id) ?? { id, count: 0, hosts: new Map() }
    return workspace.hosts.get(name) ?? { name, count: 0, workspace }
  }

  return {
    countOf: (workspace: string): number => workspaces.get(workspace)?.count ?? 0,
    get size(): number {
      return keys.size
    },
    /**
     * Adds a task. Returns `full` when there is no space for it, `duplicate` when it is buffered for the same time.
     * @param account - The account of its workspace. Default: the workspace.
     */
    add(task: IncomingTask, account = task.workspace): BufferedTask | 'full' | 'duplicate' {
      const { id, dueAt, origin, isQueued = false, isBacklog = false } = task
      const key = `${id} ${dueAt}`
      if (keys.has(key)) return 'duplicate'
      const host = hostOf(task)
      const { workspace } = host
      const free = capacity - keys.size
      const ofAccount = accounts.get(account) ?? 0
      const isAllowed =
        mayTake(ofAccount, free, accountWeight) &&
        mayTake(workspace.count, free, weight) &&
        mayTake(host.count, free - workspace.count, weight)
      if (!isAllowed) return 'full'
      keys.add(key)
      accounts.set(account, ofAccount + 1)
      if (workspace.count++ === 0) workspaces.set(workspace.id, workspace)
      if (host.count++ === 0) workspace.hosts.set(host.name, host)
      return {
        id,
        // Thousands of tasks share the strings of their workspace and host.
        workspace: workspace.id,
        host: host.name,
        origin,
        dueAt,
        isQueued,
        isBacklog,
        bufferedAt: performance.now(),
        entry: { key, host, account },
        pendingClaim: undefined,
        token: undefined,
        waited: null,
      }
    },
    evict(task: BufferedTask): void {
      if (!task.entry) return
      const { key, host, account } = task.entry
      const { workspace } = host
      const ofAccount = (accounts.get(account) ?? 0) - 1
      task.entry = undefined
      keys.delete(key)
      if (ofAccount > 0) accounts.set(account, ofAccount)
      else accounts.delete(account)
      if (--host.count === 0) workspace.hosts.delete(host.name)
      if (--workspace.count === 0) workspaces.delete(workspace.id)
    },
  }
}
