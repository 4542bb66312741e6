import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startPostgres } from '@belfry/embedded'
import { endWithThisProcess } from './servers/index.ts'

/** A database on a server of its own, for what PostgreSQL counts per server. `migrate` creates the schema. */
export async function startOwnServer(
  migrate: (databaseUrl: string) => Promise<unknown>,
): Promise<{ url: string; stop(): Promise<void> }> {
  const folder = await mkdtemp(join(tmpdir(), 'own-server-'))
  const postgres = await startPostgres({ dataDir: join(folder, 'data'), settings: { fsync: 'off' } })
  endWithThisProcess(postgres.pid, postgres.exited)
  await migrate(postgres.url())
  return {
    url: postgres.url(),
    async stop() {
      postgres.kill()
      await postgres.exited
      await rm(folder, { recursive: true, force: true })
    },
  }
}
