import type { Claim } from '@belfry/db'
import { mayTake } from './fair-share.ts'

/** A task that this process has in hand: it waits for its instant or in line, or is being claimed. */
export type TaskInHand = {
  /** UUIDs. */
  id: string
  workspace: string
  /** Epoch milliseconds by the database's clock. */
  dueAt: number
  /** Of its URL, as it is spelled there. */
  origin: string
  host: string
  /** Where the hand keeps it, until it is let go. */
  hold?: Hold | undefined
  /** Its claim while that is not used up: when it was asked for, by `performance.now()`, and in which session. */
  asked?: { claim: Promise<Claim>; at: number; session: string } | undefined
  /** By which a claim of it is recognized whose answer is unknown. */
  token?: string | undefined
}

/**
 * What a process has in hand, in bounded number: neither a workspace nor one of its hosts may fill it so that the next
 * one finds no room.
 */
export type Hand = {
  /** The task as it is in hand from now on; `full` when there is no room, `known` when it is in hand for the same time. */
  take(task: TaskInHand): TaskInHand | 'full' | 'known'
  letGo(task: TaskInHand): void
  countOf(workspace: string): number
  readonly size: number
}

type Workspace = { count: number; hosts: Map<string, Host> }
type Host = { name: string; count: number; workspaceId: string; workspace: Workspace }
type Hold = { key: string; host: Host }

// Some megabytes, and more than a dispatcher can start in a second.
const capacity = 20_000
const weight = 1

export function createHand(): Hand {
  const known = new Set<string>()
  const workspaces = new Map<string, Workspace>()

  function hostOf({ workspace: workspaceId, host: name }: TaskInHand): Host {
    const workspace = workspaces.get(workspaceId) ?? { count: 0, hosts: new Map() }
    return workspace.hosts.get(name) ?? { name, count: 0, workspaceId, workspace }
  }

  return {
    countOf: workspace => workspaces.get(workspace)?.count ?? 0,
    get size() {
      return known.size
    },
    take(task) {
      const key = `${task.id} ${task.dueAt}`
      if (known.has(key)) return 'known'
      const host = hostOf(task)
      const { workspace } = host
      const room = capacity - known.size
      const hasRoom = mayTake(workspace.count, room, weight) && mayTake(host.count, room - workspace.count, weight)
      if (!hasRoom) return 'full'
      known.add(key)
      if (workspace.count++ === 0) workspaces.set(host.workspaceId, workspace)
      if (host.count++ === 0) workspace.hosts.set(host.name, host)
      const { id, dueAt, origin } = task
      return {
        id,
        dueAt,
        origin,
        workspace: host.workspaceId,
        host: host.name,
        hold: { key, host },
        asked: undefined,
      }
    },
    letGo(task) {
      if (!task.hold) return
      const { key, host } = task.hold
      task.hold = undefined
      known.delete(key)
      if (--host.count === 0) host.workspace.hosts.delete(host.name)
      if (--host.workspace.count === 0) workspaces.delete(host.workspaceId)
    },
  }
}
