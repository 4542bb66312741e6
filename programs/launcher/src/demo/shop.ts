export type ShopRequest = { path: string; body: Record<string, unknown> }

const post = { method: 'POST' }

/** One invoice at a time. */
export const queue = { name: 'invoices', limits: { max_concurrent: 1 } }

/** Returns the cron jobs of the shop. One of them always fails. */
export function cronJobs(target: string) {
  return [
    { ...post, name: 'Sales report', url: `${target}/reports`, cron: '* * * * *' },
    { ...post, name: 'Nightly accounts', url: `${target}/reports`, cron: '0 2 * * *', timezone: 'Europe/Berlin' },
    { ...post, name: 'Stock of the warehouse', url: `${target}/stock`, cron: '*/2 * * * *', retry: fastRetry(3) },
    { ...post, name: 'Sync with the old system', url: `${target}/legacy`, cron: '* * * * *', retry: fastRetry(1) },
  ]
}

export function subscriptions(target: string) {
  return [
    { topic: 'order.paid', url: `${target}/receipts` },
    { topic: 'order.*', url: `${target}/shipping` },
  ]
}

/** Returns the requests of the shop at a tick: an event each time, and less frequent calls at their multiples. */
export function requestsAt(tick: number, target: string): ShopRequest[] {
  const order = 1000 + tick
  const paid = { topic: 'order.paid', payload: { order, amount_cents: 990 + ((tick * 730) % 9000) } }
  const task = (name: string, path: string, inSeconds: number, more = {}): ShopRequest => ({
    path: '/api/v1/scheduler/tasks',
    body: {
      ...post,
      name: `${name} for order ${order}`,
      url: `${target}${path}`,
      payload: { order },
      execute_at: new Date(Date.now() + inSeconds * 1000).toISOString(),
      ...more,
    },
  })
  return [
    { path: '/api/events', body: paid },
    ...every(tick, 2, () => task('Invoice', '/invoices', 1, { queue: queue.name })),
    ...every(tick, 3, () => task('Reminder', '/receipts', 600 + ((tick * 97) % 3000))),
    ...every(tick, 5, () => task('Stock', '/stock', 1, { retry: fastRetry(4) })),
    ...every(tick, 20, () => task('Export', '/legacy', 1, { retry: fastRetry(1) })),
  ]
}

function fastRetry(max_retries: number) {
  return { max_retries, backoff: 'fixed', base_delay_ms: 2000 }
}

function every(tick: number, count: number, create: () => ShopRequest): ShopRequest[] {
  return tick % count === 0 ? [create()] : []
}
