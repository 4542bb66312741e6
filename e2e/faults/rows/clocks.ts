import { load } from '../bench/load.ts'
import { burst } from '../bench/moments.ts'
import { findPreload } from '../find-preload.ts'
import type { Row } from '../row.ts'

/** Machines whose clocks are wrong. PostgreSQL's clock is right: it is the one that counts. */
export const clocks: Row[] = [
  {
    id: 'F58',
    fault: 'clock 1 h ahead on the dispatcher',
    moment: 'pending',
    expected: 'nobody is called early, or more than 2 s late',
    needs: 'libfaketime.so.1',
    async run(bench, seed) {
      await bench.startAll({ dispatcher: shifted('+3600s') })
      await load(bench, { seed })
      return { latenessMs: 2_000 }
    },
  },
  {
    id: 'F59',
    fault: 'clock 1 h behind on the dispatcher and the API',
    moment: 'load',
    expected: 'execute_at is judged by PostgreSQL’s clock; nobody is called early, or more than 2 s late',
    needs: 'libfaketime.so.1',
    async run(bench, seed) {
      await bench.startAll({ dispatcher: shifted('-3600s'), api: shifted('-3600s') })
      await load(bench, { seed })
      const past = await bench.create({ path: '/past', inMs: -60_000 })
      bench.demand(past.status === 400, `A time that is past was answered with ${past.status}.`)
      await burst(bench, 5)
      return { latenessMs: 2_000 }
    },
  },
]

function shifted(by: string) {
  return { env: { LD_PRELOAD: findPreload('libfaketime.so.1') ?? '', FAKETIME: by, DONT_FAKE_MONOTONIC: '1' } }
}
