import { openPool } from '@belfry/db/postgres/pool'
import { installVirtualClock, openVirtualClock } from '@belfry/db/virtual-clock/install-virtual-clock'
import { readDueTimes } from '@belfry/db/virtual-clock/read-due-times'
import {
  type ClockReading,
  type Logger,
  machineTime,
  setVirtualTime,
  type VirtualClock,
  type VirtualRole,
} from '@belfry/runtime'
import { advance, runUntilIdle } from './moves.ts'

/**
 * Opens the virtual clock of this process: PostgreSQL's functions show it from now on, and `Date` where the proxy is installed.
 * Call it before the roles start, because they keep connections.
 * @param databaseUrl - As the owner of the database.
 */
export async function openProcessClock(databaseUrl: string, log: Logger) {
  await installVirtualClock(databaseUrl)
  const database = await openVirtualClock(databaseUrl)
  const onError = (error: Error) => log.warn({ err: error }, 'connection.error')
  const pool = openPool(databaseUrl, { name: 'belfry-clock', max: 1, onError })
  const roles: VirtualRole[] = []
  let time: { frozenAt: number | null; shiftMs: number } = { frozenAt: null, shiftMs: 0 }
  let latest: Promise<unknown> = Promise.resolve()

  const now = () => time.frozenAt ?? Math.floor(machineTime() + time.shiftMs)

  async function set(frozenAt: number | null, shiftMs: number): Promise<void> {
    time = { frozenAt, shiftMs }
    await database.set(time)
    setVirtualTime(time)
    for (const role of roles) role.moved?.()
  }

  const freezeAt = (at: number) => set(at, at - machineTime())
  const moved = { roles, now, set: freezeAt, readDueTimes: () => readDueTimes(pool) }

  // One move at a time.
  function exclusively(run: () => Promise<void>): Promise<ClockReading> {
    const result = latest.then(run).then(read)
    latest = result.catch(() => {})
    return result
  }

  function read(): ClockReading {
    return { now: now(), isFrozen: time.frozenAt !== null }
  }

  // A clock that ran before the move runs on after it.
  function move(run: () => Promise<void>): Promise<ClockReading> {
    return exclusively(async () => {
      const wasFrozen = time.frozenAt !== null
      await freezeAt(now())
      try {
        await run()
      } finally {
        if (!wasFrozen) await set(null, now() - machineTime())
      }
    })
  }

  const clock: VirtualClock = {
    join: role => void roles.push(role),
    read,
    freeze: () => exclusively(() => freezeAt(now())),
    advance: to => move(() => advance(moved, to)),
    runUntilIdle: until => move(() => runUntilIdle(moved, until)),
    reset: () => exclusively(() => set(null, 0)),
  }
  return {
    clock,
    async close(): Promise<void> {
      await Promise.all([database.close(), pool.end()])
    },
  }
}
