import { defineConfig } from 'prisma/config'

// Only `prisma generate` reads this file, without connecting to a database: migrations run through src/migrate.
export default defineConfig({
  schema: 'schema.prisma',
  migrations: { path: 'migrations' },
  datasource: { url: 'postgresql://unused' },
})
