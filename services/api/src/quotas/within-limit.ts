import { type CountedInWorkspace, countInWorkspace, inTransaction, isInTransaction } from '@belfry/db'
import type { Work } from '../http/creation.ts'
import { limitOf } from './limit-of.ts'
import { overCount } from './refuse-over-count.ts'

/** What creates something: through the pool, or in a transaction. */
export type Creating = Pick<Work, 'db' | 'storeTask'>

/**
 * Creates `wanted` more of what a workspace may have only so many of. Near the limit creations take turns, each counting
 * those before it.
 * @throws AppError `quota_exceeded`
 */
export async function withinLimit<T>(
  work: Pick<Work, 'db' | 'storeTask' | 'storeTaskIn' | 'config' | 'quotaStandings' | 'rooms'>,
  { organizationId, workspaceId }: { organizationId: string; workspaceId: string },
  figure: CountedInWorkspace,
  wanted: number,
  create: (creating: Creating) => Promise<T>,
): Promise<T> {
  const limit = await limitOf(work, organizationId, figure)
  if (wanted === 0 || limit === Number.POSITIVE_INFINITY) return create(work)
  const asking = {
    holdsConnection: isInTransaction(work.db),
    count: (...what: [CountedInWorkspace, string, number]) => countInWorkspace(work.db, ...what),
  }
  const createUnderLock = () =>
    inTransaction(work.db, async tx => {
      await tx.query('SELECT FROM workspaces WHERE id = $1 FOR NO KEY UPDATE', [workspaceId])
      const present = await countInWorkspace(tx, figure, workspaceId, limit)
      if (present + wanted > limit) throw overCount(figure, limit)
      return create({ db: tx, storeTask: work.storeTaskIn(tx) })
    })
  return work.rooms.enter({ figure, workspaceId, limit }, asking, {
    wanted,
    create: () => create(work),
    createUnderLock,
  })
}
