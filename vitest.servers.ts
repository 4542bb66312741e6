import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { TestProject } from 'vitest/node'
import { serveInstallations } from './e2e/shared-installations.ts'
import { startPostgres } from './packages/embedded/src/index.ts'
import { createRunFolder, removeRunFolder } from './packages/test-support/src/run-folder.ts'
import { findRedisServer, startRedis } from './packages/test-support/src/servers/index.ts'
import { logins } from './packages/test-support/src/service-url.ts'
import { createDatabase, createTemplate } from './packages/test-support/src/template-database.ts'
import type { TestServers } from './packages/test-support/src/test-servers.ts'
import { deployMigrations } from './prisma/src/migrate/deploy-migrations.ts'
import { setUpRoles } from './prisma/src/migrate/set-up-roles.ts'

// This data need not survive a crash of the machine, and is too short-lived for autovacuum, which would visit each database.
const careless = {
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
  autovacuum: 'off',
  max_connections: '500',
}

// These tests run the server with the virtual clock.
const needsTestServer = /\/(e2e\/virtual-clock|examples)\/|\/testing-package\.long\.ts$/

// These tests run the bundled programs; the others run the sources, or those of a release.
const needsPrograms =
  /\/(e2e(?!\/release)|examples|(packages\/dashboard|programs\/[^/]+)\/test)\/|\/rewrap-keys\.long\.ts$/

/** Starts a PostgreSQL with a migrated template and a Redis, and builds the bundles, as far as these test files need them. */
export async function startServers(project: TestProject, paths: readonly string[]): Promise<() => Promise<void>> {
  const areProgramsNeeded = paths.some(path => needsPrograms.test(path))
  const isTestServerNeeded = paths.some(path => needsTestServer.test(path))
  const folder = await createRunFolder()
  // Temporary folders of killed tests are removed with the run's folder.
  process.env.TMPDIR = folder
  const work = [startPostgresIn(folder), startRedisIn(folder), areProgramsNeeded && bundle(isTestServerNeeded)] as const
  try {
    const [postgresUrl, redisUrl] = await Promise.all(work)
    const installations = await serveInstallations(folder, name => createDatabase(postgresUrl, name))
    project.provide('servers', { postgresUrl, redisUrl, installationsUrl: installations.url })
    return async () => {
      await installations.close()
      await removeRunFolder(folder)
    }
  } catch (error) {
    await Promise.allSettled(work)
    await removeRunFolder(folder)
    throw error
  }
}

async function startPostgresIn(folder: string): Promise<TestServers['postgresUrl']> {
  const postgres = await startPostgres({ dataDir: join(folder, 'postgres'), settings: careless })
  await createTemplate(postgres.url(), async url => {
    await deployMigrations(url)
    await setUpRoles(url, logins)
  })
  return postgres.url()
}

async function startRedisIn(folder: string): Promise<TestServers['redisUrl']> {
  if (!findRedisServer()) return null
  const redis = await startRedis({ dataDir: join(folder, 'redis'), persist: false })
  return redis.url
}

async function bundle(withTestServer: boolean): Promise<void> {
  const run = (script: string) => promisify(execFile)(process.execPath, [join(import.meta.dirname, script)])
  await run('scripts/bundle.mjs')
  if (withTestServer) await run('scripts/build-testing.mjs')
}
