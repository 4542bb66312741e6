import { startBelfry, type TestBelfry } from '@belfry/testing'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createShop, type Shop } from './shop.ts'

let belfry: TestBelfry
let shop: Shop
beforeAll(async () => {
  belfry = await startBelfry()
})
afterAll(() => belfry?.stop())

const day = 24 * 3_600_000
const paths = ['/reminders', '/dunning', '/reports/nightly']

beforeEach(async () => {
  await belfry.reset()
  shop = createShop(belfry.client, belfry.hook(''))
  for (const path of paths) belfry.reply(path, shop.fetch)
  await belfry.clock.freeze()
})

const subjects = (to: string) => shop.mails.filter(mail => mail.to === to).map(({ subject }) => subject)
const age = (mail: { sentAt: Date } | undefined, since: Date) => (Number(mail?.sentAt) - since.getTime()) / day
const ada = 'ada@example.com'

describe('reminders', () => {
  it('come three days after the order', async () => {
    const { placedAt } = await shop.placeOrder('1', ada, 40)
    await belfry.clock.advance({ days: 4 })
    expect(subjects(ada)).toEqual(['Invoice for order 1: 40 €', 'Please pay order 1'])
    expect(age(shop.mails[1], placedAt)).toBeCloseTo(3, 3)
  })

  it('do not come a minute early', async () => {
    await shop.placeOrder('1', ada, 40)
    await belfry.clock.advance({ days: 2, hours: 23, minutes: 59 })
    expect(belfry.calls).toEqual([])
  })

  it('do not come after a payment', async () => {
    await shop.placeOrder('1', ada, 40)
    await belfry.clock.advance({ days: 1 })
    await shop.pay('1')
    await belfry.clock.advance({ days: 60 })
    expect(subjects(ada)).toEqual(['Invoice for order 1: 40 €', 'Thank you for order 1'])
  })

  it('are cancelled in Belfry by a payment', async () => {
    const { tasks } = await shop.placeOrder('1', ada, 40)
    await shop.pay('1')
    const states = await Promise.all(tasks.map(async id => (await belfry.client.tasks.get(id)).state))
    expect(states).toEqual(['cancelled', 'cancelled'])
  })

  it('come once for each order, in the order of the orders', async () => {
    for (let n = 1; n <= 20; n++) {
      await shop.placeOrder(String(n), ada, n)
      await belfry.clock.advance({ minutes: 1 })
    }
    await belfry.clock.advance({ days: 4 })
    const calls = belfry.calls.map(call => call.json.order)
    expect(calls).toEqual(Array.from({ length: 20 }, (_, i) => String(i + 1)))
  })

  it('come although the shop was down for an hour', async () => {
    let isDown = true
    belfry.reply('/reminders', request => (isDown ? new Response(null, { status: 503 }) : shop.fetch(request)))
    await shop.placeOrder('1', ada, 40)
    await belfry.clock.advance({ days: 3, seconds: 2 })
    expect(subjects(ada)).toHaveLength(1)
    isDown = false
    await belfry.clock.advance({ days: 1 })
    expect(subjects(ada)).toEqual(['Invoice for order 1: 40 €', 'Please pay order 1'])
  })

  it('name their order', async () => {
    await shop.placeOrder('42', ada, 40)
    await belfry.clock.advance({ days: 4 })
    const call = await belfry.received('/reminders')
    expect([call.method, call.json]).toEqual(['POST', { order: '42' }])
  })
})

describe('dunning', () => {
  it('begins after two weeks, with a fee', async () => {
    const { placedAt } = await shop.placeOrder('1', ada, 40)
    await belfry.clock.advance({ days: 15 })
    expect(subjects(ada).at(-1)).toBe('Dunning letter 1 for order 1: 45 €')
    expect(age(shop.mails.at(-1), placedAt)).toBeCloseTo(14, 3)
  })

  it('sends three letters, two weeks apart, and then hands over to collection', async () => {
    const { placedAt } = await shop.placeOrder('1', ada, 40)
    await belfry.untilIdle()
    const letters = shop.mails.filter(mail => mail.subject.startsWith('Dunning'))
    expect(letters.map(letter => Math.round(age(letter, placedAt)))).toEqual([14, 28, 42])
    expect(subjects('collection@example.com')).toEqual(['Order 1: 55 €'])
  })

  it('stops with a payment after the first letter', async () => {
    await shop.placeOrder('1', ada, 40)
    await belfry.clock.advance({ days: 20 })
    await shop.pay('1')
    await belfry.untilIdle()
    expect(subjects(ada).filter(subject => subject.startsWith('Dunning'))).toHaveLength(1)
  })

  it('never begins for an order that is paid in time', async () => {
    await shop.placeOrder('1', ada, 40)
    await belfry.clock.advance({ days: 13 })
    await shop.pay('1')
    await belfry.untilIdle()
    expect(shop.orders.get('1')).toMatchObject({ dunned: 0, total: 40 })
  })

  it('treats each order by itself', async () => {
    await shop.placeOrder('1', ada, 40)
    await shop.placeOrder('2', 'bob@example.com', 70)
    await belfry.clock.advance({ days: 10 })
    await shop.pay('1')
    await belfry.untilIdle()
    expect([shop.orders.get('1')?.dunned, shop.orders.get('2')?.dunned]).toEqual([0, 3])
  })

  it('sends a letter once although the first answer was lost', async () => {
    let isFirst = true
    belfry.reply('/dunning', async request => {
      if (!isFirst) return shop.fetch(request)
      isFirst = false
      return new Response(null, { status: 502 })
    })
    await shop.placeOrder('1', ada, 40)
    await belfry.clock.advance({ days: 16 })
    expect(subjects(ada).filter(subject => subject.startsWith('Dunning'))).toHaveLength(1)
  })

  it('leaves a dead letter when the shop stays down', async () => {
    belfry.reply('/dunning', 500)
    await shop.placeOrder('1', ada, 40)
    await belfry.untilIdle()
    const { data } = await belfry.client.deadLetters.list()
    expect(data.map(task => task.url)).toEqual([belfry.hook('/dunning')])
  })
})

describe('the nightly report', () => {
  beforeEach(() => shop.open())

  it('comes each night', async () => {
    await belfry.clock.advance({ days: 7 })
    expect(shop.reports).toHaveLength(7)
  })

  it('comes at two in Berlin', async () => {
    await belfry.clock.advance({ days: 2 })
    const hour = new Intl.DateTimeFormat('en', { timeZone: 'Europe/Berlin', hour: 'numeric', hour12: false })
    expect(shop.reports.map(({ at }) => Number(hour.format(at)))).toEqual([2, 2])
  })

  it('counts the orders of the day', async () => {
    await shop.placeOrder('1', ada, 40)
    await shop.placeOrder('2', ada, 60)
    await belfry.clock.advance({ days: 2 })
    expect(shop.reports.map(({ orders }) => orders)).toEqual([2, 0])
  })

  it('counts the revenue and the open orders', async () => {
    await shop.placeOrder('1', ada, 40)
    await shop.placeOrder('2', ada, 60)
    await shop.pay('1')
    await belfry.clock.advance({ days: 1 })
    expect(shop.reports[0]).toMatchObject({ revenue: 40, open: 1 })
  })

  it('does not keep the clock from being idle', async () => {
    const before = await belfry.clock.now()
    expect(await belfry.untilIdle()).toEqual(before)
  })
})

// Some hundred due times take seconds, and many more on a busy machine.
it('lives through a year', { timeout: 300_000 }, async () => {
  await shop.open()
  for (let month = 0; month < 12; month++) {
    await shop.placeOrder(`${month}-paid`, ada, 100)
    await shop.placeOrder(`${month}-open`, 'bob@example.com', 10)
    await belfry.clock.advance({ days: 5 })
    await shop.pay(`${month}-paid`)
    await belfry.clock.advance({ days: 25 })
  }
  await belfry.clock.advance({ days: 45 })
  expect(shop.reports.length).toBeGreaterThanOrEqual(404)
  expect(shop.reports.reduce((sum, { revenue }) => sum + revenue, 0)).toBe(1_200)
  expect(subjects('collection@example.com')).toHaveLength(12)
})
