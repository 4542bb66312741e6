import { NIL_UUID } from '@belfry/domain/id'

/** Where the reading of a workspace's due tasks continues: after this position. */
export type Position = { dueAt: Date; id: string }

/**
 * A page to read. `isWhole`: of all tasks of the workspace, not only of this dispatcher's share. `hadNoSpace`: the
 * buffer has refused tasks of the workspace since it entered the backlog.
 */
export type Reading = { workspace: string; after: Position; isWhole: boolean; hadNoSpace: boolean }

type Page = { workspace: string; taken: number; refused: number; last: Position | null }
type Entry = Omit<Reading, 'workspace'> & { until: number; restart: Position | null; notBefore: number }

const start: Position = { dueAt: new Date(0), id: NIL_UUID }
// After a page of which the buffer refused most tasks.
const pauseMs = 1_000

/**
 * Keeps the workspaces with due tasks in PostgreSQL that this process has not buffered. Their tasks are read page by page.
 * After the last page, the reading restarts at the first task that the buffer refused meanwhile. Each dispatcher reads
 * its own share.
 * @param onAdd - Called when a workspace enters the backlog. Optional.
 */
export function createBacklog(onAdd: () => void = () => {}) {
  const entries = new Map<string, Entry>() // the next one to read first

  /**
   * Adds a workspace with tasks, due until `dueAt`, that no dispatcher may have buffered.
   * @param refusedFrom - A position before all of them, if this dispatcher had no space for them. Default: the start.
   */
  function add(workspace: string, dueAt: number, refusedFrom?: Position): void {
    const known = entries.get(workspace)
    const from = refusedFrom ?? start
    const hadNoSpace = refusedFrom !== undefined
    if (!known) {
      entries.set(workspace, { until: dueAt, after: from, restart: null, notBefore: 0, isWhole: false, hadNoSpace })
      onAdd()
      return
    }
    known.until = Math.max(known.until, dueAt)
    known.hadNoSpace ||= hadNoSpace
    if (known.restart === null || isBefore(from, known.restart)) known.restart = from
  }

  return {
    get size(): number {
      return entries.size
    },
    add,
    /** Adds a workspace of which this dispatcher reads the shares of other dispatchers too. */
    addWhole(workspace: string): void {
      add(workspace, 0)
      const entry = entries.get(workspace)
      if (entry) entry.isWhole = true
    },
    /**
     * Returns the workspaces to read next, round-robin.
     * @param needsTasks - Whether to read a workspace now.
     */
    next(needsTasks: (workspace: string) => boolean, limit: number, now: number): Reading[] {
      const readings: Reading[] = []
      for (const [workspace, entry] of [...entries]) {
        if (readings.length === limit) break
        if (entry.notBefore > now || !needsTasks(workspace)) continue
        entries.delete(workspace)
        entries.set(workspace, entry)
        readings.push({ workspace, after: entry.after, isWhole: entry.isWhole, hadNoSpace: entry.hadNoSpace })
      }
      return readings
    },
    /** Records a page that was read. The tasks that were refused have been added before. */
    recordPage({ workspace, taken, refused, last }: Page, now: number): void {
      const entry = entries.get(workspace)
      if (!entry) return
      entry.notBefore = refused > taken ? now + pauseMs : 0
      if (last) {
        entry.after = last
        return
      }
      if (entry.restart === null && entry.until <= now) entries.delete(workspace)
      entry.after = entry.restart ?? entry.after
      entry.restart = null
    },
  }
}

/** Returns a position before a task, and after nearly all tasks before it. */
export function positionBefore({ id, dueAt }: { id: string; dueAt: number }): Position {
  return { dueAt: new Date(dueAt), id: `${id.slice(0, -12)}000000000000` }
}

function isBefore(one: Position, other: Position): boolean {
  const apartMs = one.dueAt.getTime() - other.dueAt.getTime()
  return apartMs < 0 || (apartMs === 0 && one.id < other.id)
}
