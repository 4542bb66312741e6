import { createRandom } from '../bench/load.ts'
import { burst, lasting } from '../bench/moments.ts'
import type { Row } from '../row.ts'

const tasks = 150

export const cancelRace: Row[] = [
  {
    id: 'F73',
    fault: 'DELETE in the very moment that a task is due',
    moment: 'M1',
    expected: 'either 200 and no call ever, or 409 and the call',
    async run(bench, seed) {
      await bench.startAll()
      const random = createRandom(seed)
      await burst(bench, tasks, { inMs: 4_000 })
      await Promise.all(
        bench.creates.map(async ({ id, executeAt }) => {
          await lasting(Math.max(0, executeAt - Date.now() - 60 + random() * 100))
          return bench.cancel(id ?? '')
        }),
      )
      const count = (status: number) => bench.cancels.filter(answer => answer.status === status).length
      bench.notes.push(`${count(200)} cancelled in time, ${count(409)} too late`)
      bench.demand(count(200) + count(409) === tasks, 'A DELETE was answered with something else than 200 and 409.')
      bench.demand(count(200) > 0 && count(409) > 0, 'The race was not close.')
      return { latenessMs: 15_000 }
    },
  },
]
