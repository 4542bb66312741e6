import type { RunningService, ServiceName } from '../../processes.ts'
import type { Bench } from '../bench/bench.ts'

/** The processes of ours, each started again when it ends, as an operator's platform would do. */
export type Fleet = {
  /** The one that runs at present. */
  one(name: ServiceName, random: () => number): RunningService | undefined
  /** Starts nothing again from now on. */
  release(): Promise<void>
}

const wanted: ServiceName[] = ['api', 'scheduler', 'dispatcher', 'dispatcher']

export async function keepRunning(bench: Bench): Promise<Fleet> {
  const running = new Set<RunningService>()
  let isReleased = false

  function keep(name: ServiceName): RunningService {
    const service = bench.spawn(name)
    running.add(service)
    void service.ended.then(() => {
      running.delete(service)
      if (!isReleased) keep(name)
    })
    return service
  }

  const services = await bench.startAll()
  for (const service of Object.values(services)) {
    running.add(service)
    void service.ended.then(() => {
      running.delete(service)
      if (!isReleased) keep(service.name)
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
