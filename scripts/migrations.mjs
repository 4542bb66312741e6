// Compares schema.prisma, the migrations and a database, or writes a migration, with the DATABASE_URL of a migrated database:
// `node scripts/migrations.mjs check`, `node scripts/migrations.mjs create NAME`. Prisma's migration engine does both. The product
// applies migrations without it.
import { bundlePackage } from './bundle.mjs'

// Below prisma, where the program finds its packages and its files.
const outdir = 'node_modules/.cache'
await bundlePackage('prisma', { entryPoints: [{ in: 'dev/main.ts', out: 'migrations' }], outdir })
await import(`../prisma/${outdir}/migrations.mjs`)
