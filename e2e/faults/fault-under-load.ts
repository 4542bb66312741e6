import type { RunningService, ServiceName } from '../processes.ts'
import type { Fixture } from './fixture/fixture.ts'
import { type LoadOptions, load } from './fixture/load.ts'
import { burst, called } from './fixture/moments.ts'
import type { Allowance, Row } from './row.ts'

type StruckRow = Omit<Row, 'run'> & {
  /** Makes the fault happen, and returns what it may cost. */
  strike(fixture: Fixture, services: Record<ServiceName, RunningService>, seed: number): Promise<Allowance>
}

/** Makes a row of a fault that happens after a number of calls of a load. Default: the 120 tasks of `load`. */
export function faultUnderLoad({
  tasks,
  calls,
  strike,
  ...row
}: StruckRow & { tasks?: LoadOptions; calls: number }): Row {
  return {
    ...row,
    async run(fixture, seed) {
      const services = await fixture.startAll()
      await load(fixture, { ...tasks, seed })
      await called(fixture, calls)
      return strike(fixture, services, seed)
    },
  }
}

/** A task whose call is in flight for a while. */
export const slowTask = { answers: [{ status: 200, delayMs: 700 }], timeoutMs: 5_000 }

/** Makes a row of a fault that happens while the calls of a number of slow tasks are in flight. */
export function faultInFlight({ tasks, strike, ...row }: StruckRow & { tasks: number }): Row {
  return {
    ...row,
    async run(fixture, seed) {
      const services = await fixture.startAll()
      // Long enough to create all of them on a busy machine, so their calls are in flight at once.
      await burst(fixture, tasks, { ...slowTask, inMs: 6_000 })
      await called(fixture, tasks)
      return strike(fixture, services, seed)
    },
  }
}
