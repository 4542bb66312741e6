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

// Some megabytes, and more than a dispatcher can start in a second.
const capacity = 20_000
const weight = 1

export function createHand(): Hand {
  const tasks = new Map<TaskInHand, { key: string; line: string }>()
  const known = new Set<string>()
  const counts = new Map<string, number>() // of workspaces, and of hosts of workspaces
  const countOf = (name: string) => counts.get(name) ?? 0

  function count(name: string, by: 1 | -1): void {
    const next = countOf(name) + by
    if (next > 0) counts.set(name, next)
    else counts.delete(name)
  }

  return {
    countOf,
    get size() {
      return tasks.size
    },
    take(task) {
      const key = `${task.id} ${task.dueAt}`
      if (known.has(key)) return 'known'
      const line = `${task.workspace} ${task.host}`
      const room = capacity - tasks.size
      const own = countOf(task.workspace)
      if (!mayTake(own, room, weight) || !mayTake(countOf(line), room - own, weight)) return 'full'
      const inHand = { ...task }
      tasks.set(inHand, { key, line })
      known.add(key)
      count(task.workspace, 1)
      count(line, 1)
      return inHand
    },
    letGo(task) {
      const entry = tasks.get(task)
      if (!entry) return
      tasks.delete(task)
      known.delete(entry.key)
      count(task.workspace, -1)
      count(entry.line, -1)
    },
  }
}
