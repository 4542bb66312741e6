/** Where the reading of a workspace's due tasks continues: behind this one. */
export type Position = { dueAt: Date; id: string }

/**
 * The workspaces of which PostgreSQL has due tasks that this process has not buffered. Each one's tasks are read page by
 * page, and past the last one again from the first that had to be left behind meanwhile. With several dispatchers each
 * reads its own share.
 */
export type Backlog = {
  /**
   * Records that a workspace has tasks that no dispatcher may have buffered, due until `dueAt`.
   * @param from - None of them stands before this one. Default: the very first.
   */
  note(workspace: string, dueAt: number, from?: Position): void
  /** Records the same of all tasks of a workspace, those that belong to other dispatchers too. */
  noteAll(workspace: string): void
  /** The next workspaces to read of, round-robin, of those that `isHungry`. `isWhole`: not only this process's share. */
  next(
    isHungry: (workspace: string) => boolean,
    limit: number,
    now: number,
  ): Array<{ workspace: string; after: Position; isWhole: boolean }>
  /** Records what came of reading a page. Tasks that were refused have been recorded before. */
  read(page: { workspace: string; taken: number; refused: number; last: Position | null }, now: number): void
  /** How many workspaces there are. */
  readonly size: number
}

type Reading = { until: number; after: Position; again: Position | null; notBefore: number; isWhole: boolean }

const start: Position = { dueAt: new Date(0), id: '00000000-0000-0000-0000-000000000000' }
// A page of which little could be taken is no reason to hurry.
const pauseMs = 1_000

/** @param onNote - Called when a workspace is new in the backlog. Default: nothing. */
export function createBacklog(onNote: () => void = () => {}): Backlog {
  const readings = new Map<string, Reading>() // the next one to read first

  function note(workspace: string, dueAt: number, from = start): void {
    const known = readings.get(workspace)
    if (!known) {
      readings.set(workspace, { until: dueAt, after: from, again: null, notBefore: 0, isWhole: false })
      onNote()
      return
    }
    known.until = Math.max(known.until, dueAt)
    if (known.again === null || isBefore(from, known.again)) known.again = from
  }

  return {
    get size() {
      return readings.size
    },
    note,
    noteAll(workspace) {
      note(workspace, 0)
      const reading = readings.get(workspace)
      if (reading) reading.isWhole = true
    },
    next(isHungry, limit, now) {
      const found: Array<{ workspace: string; after: Position; isWhole: boolean }> = []
      for (const [workspace, reading] of [...readings]) {
        if (found.length === limit) break
        if (reading.notBefore > now || !isHungry(workspace)) continue
        readings.delete(workspace)
        readings.set(workspace, reading)
        found.push({ workspace, after: reading.after, isWhole: reading.isWhole })
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
