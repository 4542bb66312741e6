import type { RunningService, ServiceName } from '../../processes.ts'
import type { Fixture } from '../fixture/fixture.ts'

/** Belfry's processes: an API, a scheduler and two dispatchers. Each is started again when it ends, as a platform would. */
export type Fleet = {
  /** Returns a running process of a kind. */
  one(name: ServiceName, random: () => number): RunningService | undefined
  /** Stops starting processes again. */
  release(): Promise<void>
}

export async function keepRunning(fixture: Fixture): Promise<Fleet> {
  const running = new Set<RunningService>()
  let isReleased = false

  function keep(name: ServiceName, service: RunningService): void {
    running.add(service)
    const again = service.ended.then(() => {
      running.delete(service)
      if (!isReleased) keep(name, fixture.spawn(name))
    })
    again.catch(() => {}) // the fixture was closed
  }

  const services = await fixture.startAll()
  for (const name of ['api', 'scheduler', 'dispatcher'] as const) keep(name, services[name])
  keep('dispatcher', fixture.spawn('dispatcher'))
  return {
    one(name, random) {
      const candidates = [...running].filter(service => service.name === name)
      return candidates[Math.floor(random() * candidates.length)]
    },
    async release() {
      isReleased = true
    },
  }
}
