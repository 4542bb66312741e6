/** Where the reading of a workspace's due tasks goes on: behind this one. */
export type Position = { dueAt: Date; id: string }

/**
 * The workspaces of which PostgreSQL has due tasks that this process does not have in hand. Each one's tasks are read page
 * by page; past the last one the reading begins anew as long as something had to be left behind.
 */
export type Backlog = {
  /** Notes that a workspace has tasks that nobody may have in hand, due until `dueAt`. */
  note(workspace: string, dueAt: number): void
  /** The next workspaces to read of, in turns, of those that `isHungry`. */
  next(
    isHungry: (workspace: string) => boolean,
    limit: number,
    now: number,
  ): Array<{ workspace: string; after: Position }>
  /** Notes what came of reading a page. */
  read(page: { workspace: string; taken: number; refused: number; last: Position | null }, now: number): void
}

type Reading = { until: number; after: Position; refused: boolean; notBefore: number }

const start: Position = { dueAt: new Date(0), id: '00000000-0000-0000-0000-000000000000' }
// A page of which little could be taken is no reason to hurry.
const pauseMs = 1_000

export function createBacklog(): Backlog {
  const readings = new Map<string, Reading>() // the one whose turn it is first

  return {
    note(workspace, dueAt) {
      const known = readings.get(workspace)
      if (known) known.until = Math.max(known.until, dueAt)
      else readings.set(workspace, { until: dueAt, after: start, refused: false, notBefore: 0 })
    },
    next(isHungry, limit, now) {
      const found: Array<{ workspace: string; after: Position }> = []
      for (const [workspace, reading] of [...readings]) {
        if (found.length === limit) break
        if (reading.notBefore > now || !isHungry(workspace)) continue
        readings.delete(workspace)
        readings.set(workspace, reading)
        found.push({ workspace, after: reading.after })
      }
      return found
    },
    read({ workspace, taken, refused, last }, now) {
      const reading = readings.get(workspace)
      if (!reading) return
      reading.refused ||= refused > 0
      reading.notBefore = refused > taken ? now + pauseMs : 0
      if (last) {
        reading.after = last
        return
      }
      if (!reading.refused && reading.until <= now) readings.delete(workspace)
      reading.after = start
      reading.refused = false
    },
  }
}
