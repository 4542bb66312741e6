import { expect, it } from 'vitest'
import { createSlots } from './slots.ts'

const never = new AbortController().signal

it('gives out as many places as there are, in order of arrival', async () => {
  const slots = createSlots(2)
  const first = await slots.acquire(never)
  await slots.acquire(never)
  const order: string[] = []
  const third = slots.acquire(never).then(release => {
    order.push('third')
    return release
  })
  const fourth = slots.acquire(never).then(() => order.push('fourth'))
  expect(slots.taken).toBe(2)
  first()
  const release = await third
  expect(order).toEqual(['third'])
  release()
  await fourth
  expect(order).toEqual(['third', 'fourth'])
})

it('counts a place that is given back twice once', async () => {
  const slots = createSlots(1)
  const release = await slots.acquire(never)
  release()
  release()
  await slots.acquire(never)
  expect(slots.taken).toBe(1)
})

it('lets a waiter go when it gives up, without losing a place', async () => {
  const slots = createSlots(1)
  const release = await slots.acquire(never)
  const stop = new AbortController()
  const waiting = slots.acquire(stop.signal)
  stop.abort()
  await expect(waiting).rejects.toThrow()
  release()
  await slots.acquire(never)
  expect(slots.taken).toBe(1)
})
