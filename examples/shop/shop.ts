// A shop that has Belfry call it: reminders of open invoices, dunning letters, and a report each night. Its tests live through
// a year of it: shop.long.ts.
import type { Belfry } from '@belfry/client'

export type Order = {
  id: string
  email: string
  total: number
  placedAt: Date
  paidAt: Date | null
  /** The number of the last dunning letter. */
  dunned: number
  /** The waiting calls, which a payment cancels. */
  tasks: string[]
}

export type Mail = { to: string; subject: string; sentAt: Date }

export type Report = { at: Date; orders: number; revenue: number; open: number }

export type Shop = {
  orders: Map<string, Order>
  mails: Mail[]
  reports: Report[]
  /** Schedules the nightly report. */
  open(): Promise<void>
  placeOrder(id: string, email: string, total: number): Promise<Order>
  pay(id: string): Promise<void>
  /** Answers the calls of Belfry. */
  fetch(request: Request): Promise<Response>
}

const maxLetters = 3
const fee = 5

/** @param url - Where Belfry reaches the shop. */
export function createShop(belfry: Belfry, url: string): Shop {
  const orders = new Map<string, Order>()
  const mails: Mail[] = []
  const reports: Report[] = []

  function mail(to: string, subject: string): void {
    mails.push({ to, subject, sentAt: new Date() })
  }

  async function schedule(order: Order, path: string, delay: string): Promise<void> {
    const { id } = await belfry.tasks.create({ targetUrl: `${url}${path}`, payload: { order: order.id }, delay })
    order.tasks.push(id)
  }

  async function dun(order: Order): Promise<void> {
    order.dunned++
    order.total += fee
    mail(order.email, `Dunning letter ${order.dunned} for order ${order.id}: ${order.total} €`)
    if (order.dunned < maxLetters) await schedule(order, '/dunning', '14d')
    else mail('collection@example.com', `Order ${order.id}: ${order.total} €`)
  }

  function report(): void {
    const since = reports.at(-1)?.at ?? new Date(0)
    const all = [...orders.values()]
    const placed = all.filter(order => order.placedAt > since)
    const paid = all.filter(order => order.paidAt !== null && order.paidAt > since)
    reports.push({
      at: new Date(),
      orders: placed.length,
      revenue: paid.reduce((sum, order) => sum + order.total, 0),
      open: all.filter(order => order.paidAt === null).length,
    })
  }

  return {
    orders,
    mails,
    reports,
    async open() {
      await belfry.cronJobs.create({
        name: 'Nightly report',
        cron: '0 2 * * *',
        timezone: 'Europe/Berlin',
        targetUrl: `${url}/reports/nightly`,
      })
    },
    async placeOrder(id, email, total) {
      const order: Order = { id, email, total, placedAt: new Date(), paidAt: null, dunned: 0, tasks: [] }
      orders.set(id, order)
      mail(email, `Invoice for order ${id}: ${total} €`)
      await schedule(order, '/reminders', '3d')
      await schedule(order, '/dunning', '14d')
      return order
    },
    async pay(id) {
      const order = orders.get(id)
      if (!order || order.paidAt) return
      order.paidAt = new Date()
      mail(order.email, `Thank you for order ${id}`)
      // A call that has been made cannot be cancelled, and the shop ignores those that come too late.
      await Promise.allSettled(order.tasks.map(task => belfry.tasks.cancel(task)))
    },
    async fetch(request) {
      const { pathname } = new URL(request.url)
      if (pathname === '/reports/nightly') {
        report()
        return new Response(null, { status: 204 })
      }
      const { order: id } = (await request.json()) as { order: string }
      const order = orders.get(id)
      if (!order || order.paidAt) return new Response(null, { status: 204 })
      if (pathname === '/reminders') mail(order.email, `Please pay order ${id}`)
      else await dun(order)
      return new Response(null, { status: 204 })
    },
  }
}
