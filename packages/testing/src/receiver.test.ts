import { expect, it, onTestFinished } from 'vitest'
import { startReceiver } from './receiver.ts'

it('gives a function the bytes of a body', async () => {
  const receiver = await startReceiver(async () => {})
  onTestFinished(() => receiver.close())
  receiver.answer('/echo', [async request => new Response(await request.arrayBuffer())])
  const body = Uint8Array.of(0, 128, 255)
  const answer = await fetch(receiver.url('/echo'), { method: 'POST', body })
  expect(new Uint8Array(await answer.arrayBuffer())).toEqual(body)
})
