import { startBelfry } from '../lab/belfry.ts'
import { type Lab, processGroups } from '../lab/lab.ts'
import { promote, requireRecorded, storeTasks } from '../lab/tasks.ts'
import { measured } from '../measure/statistics.ts'
import { measureWindow } from '../measure/window.ts'
import type { Benchmark } from './benchmark.ts'

const count = 10_000
const nearlyAll = 0.985

/** What happens when 10,000 tasks are due at the same instant, compared with what the same process does at its best. */
export const burst: Benchmark = {
  name: 'burst',
  title: '10,000 tasks due at one instant',
  async run(lab, { rounds }) {
    const samples = await rounds.run(() => runBurst(lab))
    return {
      rounds: samples,
      figures: [
        {
          key: 'burst_10k_drain_vs_capacity',
          title: 'dispatches a second from the due time on / those of a backlog, same process',
          ...measured(samples.map(({ drained, capacity }) => drained / capacity)),
          limit: { atLeast: 0.8 },
        },
        {
          key: 'burst_10k_first_start_ms',
          title: 'how late the first of them starts',
          unit: 'ms',
          ...measured(samples.map(({ firstStartMs }) => firstStartMs)),
          limit: { atMost: 100 },
        },
        {
          key: 'burst_10k_last_start_ms',
          title: 'how late the last of them starts',
          unit: 'ms',
          ...measured(samples.map(({ lastStartMs }) => lastStartMs)),
        },
      ],
    }
  },
}

async function runBurst(lab: Lab) {
  const database = await lab.freshDatabase()
  const belfry = await startBelfry(lab, database, { services: ['scheduler', 'dispatcher'] })
  const { counter } = lab.target
  const prepare = async () => {
    counter.reset()
    const stored = await storeTasks(database, { count, url: lab.target.url(), dueInMs: 3_000 })
    return { stored, promoted: promote(database, stored) }
  }
  try {
    const backlog = await prepare()
    const groups = processGroups(lab, belfry.pids('dispatcher'))
    const [capacity] = await Promise.all([measureWindow(counter, count, groups), backlog.promoted])
    await requireRecorded(database, backlog.stored)

    const { stored, promoted } = await prepare()
    const dueAt = stored.firstDueAt.getTime()
    const reached = [1, Math.round(count * nearlyAll), count].map(calls => counter.reached(calls))
    const [first, most, last] = await Promise.all(reached)
    await promoted
    await requireRecorded(database, stored)
    const at = (mark: { at: number } | undefined) => (mark?.at ?? Number.NaN) - dueAt
    const drained = ((count * nearlyAll) / at(most)) * 1000
    return { capacity: capacity.perSecond, drained, firstStartMs: at(first), lastStartMs: at(last) }
  } finally {
    await belfry.stop()
    await database.close()
  }
}
