import type { RunningService } from '../../processes.ts'
import { lasting } from '../bench/moments.ts'
import { between, countUnderWay, type FaultStory, pick } from './fault-story.ts'

const kinds = ['kill', 'kill', 'terminate', 'freeze', 'long freeze'] as const
const names = ['dispatcher', 'dispatcher', 'scheduler', 'api'] as const

/** Kills, stops and freezes processes of ours, one after another, until the end. */
export async function processFaults(story: FaultStory): Promise<void> {
  const { random, fleet, onFault } = story
  while (performance.now() < story.endAt) {
    await lasting(between(random, 3_000, 9_000))
    const name = pick(random, names)
    const kind = pick(random, kinds)
    const service = fleet.one(name, random)
    if (!service) continue
    story.faults++
    onFault(`${kind} ${name} ${service.pid}`)
    if (kind === 'terminate') void service.stop('SIGTERM')
    else await stopHard(story, service, kind === 'kill' ? null : frozenMs(random, kind))
  }
}

// A lease lasts 16 s.
function frozenMs(random: () => number, kind: 'freeze' | 'long freeze'): number {
  return kind === 'freeze' ? between(random, 1_000, 8_000) : between(random, 18_000, 30_000)
}

// Frozen first, so that nothing starts between the count and the kill.
async function stopHard(story: FaultStory, service: RunningService, freezeMs: number | null): Promise<void> {
  signal(service, 'SIGSTOP')
  if (service.name === 'dispatcher') story.mayRepeat += await countUnderWay(story.bench)
  if (freezeMs === null) {
    await service.stop('SIGKILL')
    return
  }
  await lasting(freezeMs)
  signal(service, 'SIGCONT')
}

function signal(service: RunningService, name: NodeJS.Signals): void {
  try {
    process.kill(service.pid, name)
  } catch {
    // it has just ended by itself
  }
}
