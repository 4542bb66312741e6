import type { Meter } from './open-meter.ts'

/** The figures of a connection pool. */
export type VisiblePool = { totalCount: number; idleCount: number; waitingCount: number; options: { max: number } }

/** Exports how many connections of a pool are in use. */
export function measurePool(meter: Meter, pool: VisiblePool): void {
  meter.gauges('belfry_pool_connections', 'Connections to PostgreSQL, busy or idle.', ['state'], () => [
    [{ state: 'busy' }, pool.totalCount - pool.idleCount],
    [{ state: 'idle' }, pool.idleCount],
  ])
  meter.gauge('belfry_pool_max', 'Connections that the pool may open.', () => pool.options.max)
  meter.gauge('belfry_pool_waiting', 'Statements that wait for a connection.', () => pool.waitingCount)
}
