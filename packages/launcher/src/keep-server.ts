import { setTimeout as sleep } from 'node:timers/promises'
import type { Opened } from './open-stack.ts'
import { say } from './terminal.ts'

type Server = Opened & { port: number; exited: Promise<void> }

const pauseMs = 1000

/** Keeps a server running until it is stopped: one that ends by itself is started again on its port. */
export function keepServer<T extends Server>(title: string, first: T, start: (port: number) => Promise<T>): Opened {
  let server = first
  let isStopping = false

  async function watch(): Promise<void> {
    for (;;) {
      await server.exited
      if (isStopping) return
      say(`${title} ended unexpectedly; starting it again.`)
      await restart()
      if (isStopping) return // what was just opened is ended by `stop`
    }
  }

  async function restart(): Promise<void> {
    while (!isStopping) {
      try {
        const next = await start(first.port)
        if (next.port === first.port) {
          server = next
          return
        }
        // The services know the old port only.
        await next.stop()
        say(`${title} cannot be started again yet: port ${first.port} is taken.`)
      } catch (error) {
        say(`${title} cannot be started again yet: ${error instanceof Error ? error.message : error}`)
      }
      await sleep(pauseMs)
    }
  }

  const watching = watch()
  return {
    async stop() {
      isStopping = true
      await server.stop()
      await watching
      // A restart that was under way has opened another one.
      await server.stop()
    },
    kill() {
      isStopping = true
      server.kill()
    },
  }
}
