import { setTimeout as sleep } from 'node:timers/promises'
import { reasonOf } from './errors.ts'
import type { Opened } from './opened.ts'
import { say } from './terminal.ts'

type Server = Opened & { port: number; exited: Promise<void> }

const pauseMs = 1000

/** Keeps a server running until it is stopped: when it ends by itself, it is restarted on its port. */
export function keepServer<T extends Server>(title: string, first: T, start: (port: number) => Promise<T>): Opened {
  let server = first
  let isStopping = false

  async function watch(): Promise<void> {
    for (;;) {
      await server.exited
      if (isStopping) return
      say(`${title} ended unexpectedly; restarting it.`)
      await restart()
      if (isStopping) return // `stop` ends the new server
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
        // The services only know the old port.
        await next.stop()
        say(`${title} cannot be restarted yet: port ${first.port} is in use.`)
      } catch (error) {
        say(`${title} cannot be restarted yet: ${reasonOf(error)}`)
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
      // A concurrent restart may have opened another server.
      await server.stop()
    },
    kill() {
      isStopping = true
      server.kill()
    },
  }
}
