import { expect, it } from 'vitest'
import { keepServer } from './keep-server.ts'

function aServer() {
  let end = () => {}
  const exited = new Promise<void>(resolve => {
    end = resolve
  })
  const server = {
    port: 1,
    exited,
    isRunning: true,
    kill() {
      server.isRunning = false
      end()
    },
    stop: async () => server.kill(),
  }
  return server
}

it('restarts a server that ended by itself', async () => {
  const [first, second] = [aServer(), aServer()]
  const kept = keepServer('The server', first, async () => second)
  first.kill()
  await new Promise(setImmediate)
  expect(second.isRunning).toBe(true)
  await kept.stop()
  expect(second.isRunning).toBe(false)
})

it('ends a server that it is restarting when it is stopped', async () => {
  const [first, second] = [aServer(), aServer()]
  let started = () => {}
  const kept = keepServer('The server', first, () => new Promise(resolve => (started = () => resolve(second))))
  first.kill()
  await new Promise(setImmediate)
  const stopped = kept.stop()
  started()
  await stopped
  expect(second.isRunning).toBe(false)
})
