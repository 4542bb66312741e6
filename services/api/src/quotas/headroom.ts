import { type Db, inTransaction, isInTransaction, withDb } from '@belfry/db/postgres/in-transaction'
import { type CountedInWorkspace, countInWorkspace } from '@belfry/db/usage/read-usage'
import { steadyTime } from '@belfry/runtime'
import { LRUCache } from 'lru-cache'
import { overCount, type Quota } from './quotas.ts'

/**
 * Creates `wanted` objects of which a workspace may have a limited number. Near the limit, creations run one after the
 * other under a lock of the workspace, and each of them counts the objects before it.
 * @param create - Gets `work` with the transaction that holds the lock, if one is needed. Up to `repeats` of the objects may
 * be there already: then it tells how many it has `added`.
 * @throws AppError `quota_exceeded`
 */
export function withinLimit<W extends { db: Db; headrooms: Headrooms }, T extends { added?: number }>(
  work: W,
  { limits }: Quota,
  { workspaceId, objects, wanted, repeats }: Omit<Request, 'limit'> & { repeats: number },
  create: (work: W) => Promise<T>,
): Promise<T> {
  const limit = limits[objects]
  if (wanted === 0 || limit === Number.POSITIVE_INFINITY) return create(work)
  const createUnderLock = () =>
    inTransaction(work.db, async tx => {
      await tx.query('SELECT FROM workspaces WHERE id = $1 FOR NO KEY UPDATE', [workspaceId])
      const present = await countInWorkspace(tx, objects, workspaceId, limit)
      if (present + wanted - repeats > limit) throw overCount(objects, limit)
      const created = await create(withDb(work, tx))
      if (present + (created.added ?? wanted) > limit) throw overCount(objects, limit)
      return created
    })
  return work.headrooms.run(
    { objects, workspaceId, limit, wanted },
    {
      count: () => countInWorkspace(work.db, objects, workspaceId, limit),
      holdsConnection: isInTransaction(work.db),
      create: () => create(work),
      createUnderLock,
    },
  )
}

type Request = { objects: CountedInWorkspace; workspaceId: string; limit: number; wanted: number }

type Creation<T> = {
  count: () => Promise<number>
  /**
   * Whether the caller holds a connection. Then it must not wait for other creations: they may be waiting for a
   * connection.
   */
  holdsConnection: boolean
  create: () => Promise<T>
  createUnderLock: () => Promise<T>
}

export type Headrooms = ReturnType<typeof createHeadrooms>

type Headroom = {
  limit: number
  /** How many objects this process may create before it counts again. */
  reserved: number
  /** Whether the last count left so little that each creation counts under the lock. */
  isNearLimit: boolean
  countAgainAt: number
  counting: Promise<void> | null
  /** Objects that creations in flight are about to store. */
  wanted: number
  /** The creations that have begun without the lock since one last waited for those before it. */
  flight: Flight
  /** Resolves when all flights before it have landed. */
  landed: Promise<unknown>
}

/**
 * Creations that may be in flight, as a number: V8 keeps the former tables of a set that changes, with all that their
 * elements refer to, until the next collection of the whole heap.
 */
type Flight = { creations: number; isFull: boolean; land: () => void; landed: Promise<void> }

// What one process reserves of the headroom that it has counted. Other processes may do so at the same time.
const reservedShare = 1 / 8
const minHeadroom = 400
const minValidMs = 2_000
// Limits counting to about a hundredth of the time.
const validPerCountMs = 100
const max = 10_000

/**
 * Remembers how far workspaces are from their limits, because counting is too slow for each creation. A process reserves a
 * share of the headroom that it has counted and creates that many objects without another count; near the limit each
 * creation counts under the lock. The limit is exact except for what several processes have reserved at the same time,
 * and a reservation ends after about two seconds.
 */
export function createHeadrooms(now: () => number = steadyTime) {
  const headrooms = new LRUCache<string, Headroom>({ max })

  function headroomOf({ objects, workspaceId, limit }: Request): Headroom {
    const key = `${objects} ${workspaceId}`
    const known = headrooms.get(key)
    if (known?.limit === limit) return known
    const uncounted = { limit, reserved: 0, isNearLimit: false, countAgainAt: 0, counting: null }
    const headroom = known
      ? Object.assign(known, uncounted)
      : { ...uncounted, wanted: 0, flight: openFlight(), landed: Promise.resolve() }
    headrooms.set(key, headroom)
    return headroom
  }

  async function count(headroom: Headroom, creation: Creation<unknown>): Promise<void> {
    const beganAt = now()
    const free = headroom.limit - (await creation.count()) - headroom.wanted
    headroom.isNearLimit = free < minHeadroom
    headroom.reserved = headroom.isNearLimit ? 0 : Math.floor(free * reservedShare)
    headroom.countAgainAt = now() + Math.max(minValidMs, (now() - beganAt) * validPerCountMs)
  }

  function countOnce(headroom: Headroom, creation: Creation<unknown>): Promise<void> {
    headroom.counting ??= count(headroom, creation).finally(() => {
      headroom.counting = null
    })
    return headroom.counting
  }

  // Returns the count to wait for; null when the reservation covers that many objects. In that case the caller reserves
  // them in the same synchronous step, before another creation can.
  function startCount(headroom: Headroom, creation: Creation<unknown>, wanted: number): Promise<void> | null {
    const isOld = now() >= headroom.countAgainAt
    const isEnough = headroom.reserved >= wanted
    if (!isOld && (isEnough || headroom.isNearLimit)) return null
    if (creation.holdsConnection) return count(headroom, creation)
    const counting = countOnce(headroom, creation)
    if (!isEnough) return counting
    counting.catch(() => {}) // the old count still serves, and the next creation counts again
    return null
  }

  return {
    /** Runs `create` if it certainly keeps within the limit, and `createUnderLock` otherwise. */
    async run<T>(request: Request, creation: Creation<T>): Promise<T> {
      const { wanted } = request
      const headroom = headroomOf(request)
      const counting = startCount(headroom, creation, wanted)
      if (counting !== null) await counting
      headroom.wanted += wanted
      try {
        if (headroom.reserved >= wanted) {
          headroom.reserved -= wanted
          return await onFlight(headroom.flight, creation)
        }
        headroom.reserved = 0
        // Creations that begin later keep within the limit: their count includes `wanted`.
        if (!creation.holdsConnection) await landFlight(headroom)
        return await creation.createUnderLock()
      } finally {
        headroom.wanted -= wanted
      }
    },
  }
}

function openFlight(): Flight {
  let land = () => {}
  const landed = new Promise<void>(resolve => {
    land = resolve
  })
  return { creations: 0, isFull: false, land, landed }
}

async function onFlight<T>(flight: Flight, { create }: Creation<T>): Promise<T> {
  flight.creations++
  try {
    return await create()
  } finally {
    flight.creations--
    if (flight.isFull && flight.creations === 0) flight.land()
  }
}

// Waits for the creations that have begun so far.
async function landFlight(headroom: Headroom): Promise<void> {
  const { flight } = headroom
  headroom.flight = openFlight()
  headroom.landed = Promise.all([headroom.landed, flight.landed])
  flight.isFull = true
  if (flight.creations === 0) flight.land()
  await headroom.landed
}
