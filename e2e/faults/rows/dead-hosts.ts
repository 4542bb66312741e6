import type { Fixture } from '../fixture/fixture.ts'
import { steadyLoad } from '../fixture/load.ts'
import { lasting } from '../fixture/moments.ts'
import { type Probes, startWithProbes } from '../fixture/probes.ts'
import { startProxy } from '../fixture/proxy.ts'
import type { Row } from '../row.ts'

const deadTasks = 1_200
const replicas = 2

/** One tenant's host is dead, which is no reason for more dispatchers and must not hide that dispatchers are missing. */
export const deadHosts: Row[] = [
  {
    id: 'S82',
    fault: 'a host with 1,200 due tasks refuses connections for 70 s; then the dispatcher is away for 20 s',
    moment: '5 POSTs a second for another host',
    expected:
      'no autoscaler adds dispatchers for the dead host; without a dispatcher, startable tasks become late at once',
    async run(fixture) {
      const probes = await startWithProbes(fixture)
      const dead = await startProxy(Number(new URL(fixture.target.url('/')).port)) // the same target by another name
      await dead.set({ does: 'refuse' })
      fixture.onClose(() => dead.close())
      const paths = Array.from({ length: deadTasks }, (_, i) => `/dead-${i}`)
      for (let i = 0; i < deadTasks; i += 10)
        await Promise.all(paths.slice(i, i + 10).map(path => createDead(fixture, path, dead.port)))
      const readings: Reading[] = []
      await steadyLoad(fixture, 5, watch(probes, 70, readings))
      const maxDue = Math.max(...readings.map(({ due }) => due))
      const maxStartable = Math.max(...readings.map(({ startable }) => startable))
      const slots = readings.at(-1)?.slotsTaken
      fixture.notes.push(
        `oldest due task ${maxDue.toFixed(0)} s, oldest startable task ${maxStartable.toFixed(1)} s, ${slots} slots taken`,
        `KEDA: ${wanted(maxStartable)} dispatchers, ${wanted(maxDue)} if all due tasks counted`,
      )
      fixture.demand(maxDue > 50, `The oldest due task was ${maxDue} s late, so no host was dead.`)
      fixture.demand(wanted(maxStartable) <= replicas, `KEDA would want ${wanted(maxStartable)} dispatchers.`)

      await probes.services.dispatcher.stop('SIGTERM')
      const without: Reading[] = []
      await steadyLoad(fixture, 5, watch(probes, 20, without, false))
      const late = without.at(-1)?.startable ?? 0
      fixture.notes.push(`oldest startable task ${late.toFixed(0)} s after 20 s without a dispatcher`)
      fixture.demand(late > 12, `The oldest startable task was ${late} s late without a dispatcher.`)

      await fixture.start('dispatcher')
      await dead.set({ does: 'pass' })
      return { restMs: 150_000, latenessMs: 180_000 }
    },
  },
]

type Reading = { due: number; startable: number; slotsTaken: number }

function createDead(fixture: Fixture, path: string, port: number) {
  const url = `http://127.0.0.1:${port}${path}`
  return fixture.create({ path, url, inMs: 12_000, maxRetries: 20 })
}

async function watch(probes: Probes, seconds: number, readings: Reading[], hasDispatcher = true): Promise<void> {
  const read = async (name: 'scheduler' | 'dispatcher', series: string) => (await probes.metric(name, series)) ?? 0
  for (let i = 0; i < seconds; i++) {
    await lasting(1_000)
    readings.push({
      due: await read('scheduler', 'belfry_oldest_due_seconds'),
      startable: await read('scheduler', 'belfry_oldest_startable_seconds'),
      slotsTaken: hasDispatcher ? await read('dispatcher', 'belfry_slots_taken') : 0,
    })
  }
}

// The lag trigger of k8s/manifests/keda.yaml, with two dispatchers.
function wanted(seconds: number): number {
  return Math.ceil((seconds * replicas) / 5)
}
