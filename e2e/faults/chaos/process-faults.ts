import { freeze, lasting } from '../fixture/moments.ts'
import { between, type FaultLane, pick } from './fault-lane.ts'

const kinds = ['kill', 'kill', 'terminate', 'freeze', 'long freeze'] as const
const names = ['dispatcher', 'dispatcher', 'scheduler', 'api'] as const

/**
 * Kills, stops and freezes Belfry's processes, one after another, until the end. The fixture charges each kill of a
 * dispatcher with its attempts in flight, and `freeze` charges each long freeze.
 */
export async function processFaults(lane: FaultLane): Promise<void> {
  const { random, fleet, fixture, onFault } = lane
  while (performance.now() < lane.endAt) {
    await lasting(between(random, 3_000, 9_000))
    const name = pick(random, names)
    const kind = pick(random, kinds)
    const service = fleet.one(name, random)
    if (!service) continue
    lane.faults++
    onFault(`${kind} ${name} ${service.pid}`)
    if (kind === 'terminate') void service.stop('SIGTERM')
    else if (kind === 'kill') await service.stop('SIGKILL')
    else await freeze(fixture, service, frozenMs(random, kind))
  }
}

// The scheduler takes a dispatcher for dead after 12 s.
function frozenMs(random: () => number, kind: 'freeze' | 'long freeze'): number {
  return kind === 'freeze' ? between(random, 1_000, 8_000) : between(random, 18_000, 30_000)
}
