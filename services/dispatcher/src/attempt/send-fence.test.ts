import { afterEach, expect, it, vi } from 'vitest'
import { createSendFence } from './send-fence.ts'

afterEach(() => void vi.restoreAllMocks())

async function aFence() {
  const dispatcher = { session: 'one' }
  const fence = createSendFence(dispatcher)
  const clock = vi.spyOn(performance, 'now').mockReturnValue(1_000)
  return { dispatcher, fence, clock }
}

it('holds for ten seconds from the beginning of a heartbeat that was answered', async () => {
  const { fence, clock } = await aFence()
  expect(fence.holds('one')).toBe(false)
  await fence.prove(async () => clock.mockReturnValue(5_000))
  clock.mockReturnValue(10_999)
  expect(fence.holds('one')).toBe(true)
  clock.mockReturnValue(11_000)
  expect(fence.holds('one')).toBe(false)
  await expect(fence.prove(() => Promise.reject(new Error('away')))).rejects.toThrow('away')
  expect(fence.holds('one')).toBe(false)
})

it('holds for claims of the current session only', async () => {
  const { dispatcher, fence } = await aFence()
  await fence.prove(async () => {
    dispatcher.session = 'two'
  })
  expect([fence.holds('one'), fence.holds('two')]).toEqual([false, true])
})
