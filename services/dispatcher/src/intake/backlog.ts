/** Where the reading of a workspace's due tasks goes on: behind this one. */
export type Position = { dueAt: Date; id: string }

/**
 * The workspaces of which PostgreSQL has due tasks that this process does not have in hand. Each one's tasks are read page
 * by page, and past the last one again from the first that had to be left behind meanwhile.
 */
export type Backlog = {
  /**
   * Notes that a workspace has tasks that nobody may have in hand, due until `dueAt`.
   * @param from - None of them stands before this one. Default: the very first.
   */
  note(workspace: string, dueAt: number, from?: Position): void
  /** The next workspaces to read of, in turns, of those that `isHungry`. */
  next(
    isHungry: (workspace: string) => boolean,
    limit: number,
    now: number,
  ): Array<{ workspace: string; after: Position }>
  /** Notes what came of reading a page; tasks that were refused have been noted. */
  read(page: { workspace: string; taken: number; refused: number; last: Position | null }, now: number): void
}

type Reading = { until: number; after: Position; again: Position | null; notBefore: number }

const start: Position = { dueAt: new Date(0), id: '00000000-0000-0000-0000-000000000000' }
// A page of which little could be taken is no reason to hurry.
const pauseMs = 1_000

export function createBacklog(): Backlog {
  const readings = new Map<string, Reading>() // the one whose turn it is first

  return {
    note(workspace, dueAt, from = start) {
      const known = readings.get(workspace)
      if (!known) {
        readings.set(workspace, { until: dueAt, after: from, again: null, notBefore: 0 })
        return
      }
      known.until = Math.max(known.until, dueAt)
      if (known.again === null || isBefore(from, known.again)) known.again = from
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
      reading.notBefore = refused > taken ? now + pauseMs : 0
      if (last) {
        reading.after = last
        return
      }
      if (reading.again === null && reading.until <= now) readings.delete(workspace)
      reading.after = reading.again ?? reading.after
      reading.again = null
    },
  }
}

/** A position before a task, and hardly before any other. */
export function positionBefore({ id, dueAt }: { id: string; dueAt: number }): Position {
  return { dueAt: new Date(dueAt), id: `${id.slice(0, -12)}000000000000` }
}

function isBefore(one: Position, other: Position): boolean {
  const apartMs = one.dueAt.getTime() - other.dueAt.getTime()
  return apartMs < 0 || (apartMs === 0 && one.id < other.id)
}
