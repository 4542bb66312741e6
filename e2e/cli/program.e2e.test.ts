import { type Receiver, startReceiver } from '@belfry/test-support'
import { waitFor } from '@belfry/test-support/wait-for'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { useBelfry } from '../belfry.ts'
import { startCli } from './run-cli.ts'

// Each command runs in its own process, as published. The other files test what commands print.
vi.setConfig({ testTimeout: 60_000 })

const belfry = useBelfry('postgres')
let target: Receiver
beforeAll(async () => {
  target = await startReceiver()
})
afterAll(() => target?.close())

const cli = (args: string[], input?: string) => startCli(belfry, args, input).ended

it('exits with 0, 1 and 2', async () => {
  const [shown, refused, unknown] = await Promise.all([
    cli(['whoami']),
    cli(['list', '--api-key', 'bf_wrong']),
    cli(['list', '--fly']),
  ])
  expect(shown).toMatchObject({ code: 0, out: expect.stringContaining(belfry.url), error: '' })
  expect(refused).toMatchObject({ code: 1, out: '', error: expect.stringContaining('401 unauthenticated') })
  expect(unknown).toMatchObject({ code: 2, out: '', error: expect.stringContaining('unknown option') })
})

it('reads a payload from standard input', async () => {
  const args = ['schedule', target.url('/later'), '--in', '1h', '-d', '@-', '--json']
  const { code, out, error } = await cli(args, '{"n":1}')
  expect([code, error]).toEqual([0, ''])
  expect(JSON.parse(out)).toMatchObject({ payload: { n: 1 } })
})

it('tails the log until Ctrl-C', async () => {
  const tail = startCli(belfry, ['tail', '--topic', 'b.wanted', '--json'])
  // It shows runs that start after it has connected.
  await waitFor(
    async () => {
      await belfry.call('POST', '/api/events', { topic: 'b.wanted', payload: {}, target_url: target.url('/tail') })
      return tail.out
    },
    out => out.includes('\n'),
  )
  expect(await tail.interrupt()).toMatchObject({ code: 0, error: '' })
})
