import { PrismaPg } from '@prisma/adapter-pg'
import { PrismaClient } from '../generated/client.ts'
import { maxSilenceMs, timeouts } from './pool.ts'
import { targetOf } from './primary-client.ts'

export type Prisma = PrismaClient

export type PrismaTransaction = Parameters<Parameters<Prisma['$transaction']>[0]>[0]

/**
 * Opens the Prisma client, for everything except tasks. It connects on first use.
 * @param name - The name of its sessions in pg_stat_activity.
 */
export function createPrisma(databaseUrl: string, name = 'belfry'): Prisma {
  return new PrismaClient({
    adapter: new PrismaPg({
      ...targetOf(databaseUrl),
      application_name: name,
      max: 10,
      connectionTimeoutMillis: 5000,
      query_timeout: maxSilenceMs,
      ...timeouts,
    }),
    // Not shorter than the timeouts of the statements: changes of one organization wait for each other.
    transactionOptions: { maxWait: 5000, timeout: 15_000 },
  })
}

/** True when Prisma or PostgreSQL refused a write because a row with the same unique value exists. */
export function isUniqueViolation(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'P2002' || error.code === '23505')
}
