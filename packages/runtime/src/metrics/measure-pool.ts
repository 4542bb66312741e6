import type { Meter } from './open-meter.ts'

/** What can be seen of a pool of connections. */
export type VisiblePool = { totalCount: number; idleCount: number; waitingCount: number; options: { max: number } }

/** Shows how far a process's pool of database connections is in use. */
export function measurePool(meter: Meter, pool: VisiblePool): void {
  meter.gauges('belfry_pool_connections', 'Connections to PostgreSQL, busy or idle.', () => [
    [{ state: 'busy' }, pool.totalCount - pool.idleCount],
    [{ state: 'idle' }, pool.idleCount],
  ])
  meter.gauge('belfry_pool_max', 'Connections that the pool may open.', () => pool.options.max)
  meter.gauge('belfry_pool_waiting', 'Statements that wait for a connection.', () => pool.waitingCount)
}
