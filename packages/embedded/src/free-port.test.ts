import { once } from 'node:events'
import { createServer } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { freePort } from './free-port.ts'

test('returns the wanted port when it is free, and another one otherwise', async () => {
  const wanted = await freePort()
  expect(await freePort(wanted)).toBe(wanted)
  const taken = createServer().listen(wanted, '127.0.0.1')
  onTestFinished(() => void taken.close())
  await once(taken, 'listening')
  expect(await freePort(wanted)).not.toBe(wanted)
})
