import { afterEach, expect, it } from 'vitest'
import { closeAll, response, setup } from './setup-sender.ts'

afterEach(closeAll)

const request = (url: string) => ({ url, method: 'POST', headers: {}, body: 'a body', timeoutMs: 5_000 })

it('writes nothing of a request that is refused on its connection, neither a new nor a kept one', async () => {
  const { receiver, sender } = await setup({ patienceMs: 10_000 })
  const refused = { refusal: () => 'It has ended.' }
  const call = (gate?: typeof refused) => sender.send(request(receiver.url('/')), gate)
  expect(await call(refused)).toEqual({ kind: 'unsent', message: 'It has ended.' })
  expect(await call()).toEqual(response(200))
  expect(await call(refused)).toEqual({ kind: 'unsent', message: 'It has ended.' })
  expect(await call()).toEqual(response(200))
  expect(receiver.requests).toHaveLength(2)
})
