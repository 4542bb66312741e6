import type { RunningService, ServiceName } from '../../processes.ts'
import type { Fixture } from '../fixture/fixture.ts'

/** The processes of ours, each started again when it ends, as an operator's platform would do. */
export type Fleet = {
  /** The one that runs at present. */
  one(name: ServiceName, random: () => number): RunningService | undefined
  /** Starts nothing again from now on. */
  release(): Promise<void>
}

const wanted: ServiceName[] = ['api', 'scheduler', 'dispatcher', 'dispatcher']

export async function keepRunning(fixture: Fixture): Promise<Fleet> {
  const running = new Set<RunningService>()
  let isReleased = false

  function keep(name: ServiceName): RunningService {
    const service = fixture.spawn(name)
    running.add(service)
    void service.ended.then(() => {
      running.delete(service)
      if (!isReleased) keep(name)
    })
    return service
  }

  const services = await fixture.startAll()
  for (const name of ['api', 'scheduler', 'dispatcher'] as const) {
    const service = services[name]
    running.add(service)
    void service.ended.then(() => {
      running.delete(service)
      if (!isReleased) keep(name)
    })
  }
  for (const name of wanted.slice(3)) keep(name)
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
