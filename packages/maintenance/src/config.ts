import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { isAlive, isRunRecord, type RunRecord, readConfig, readJson, serviceEnvironment } from '@belfry/launcher'

export type Environment = Record<string, string | undefined>

/** An installation as its operator describes it: by the variables of its services, or by the data folder of `npm start`. */
export type Installation = {
  /** The data folder of `npm start`; null for services that run by themselves. */
  dataDir: string | null
  /** The launcher that runs on the data folder; null when none does. */
  launcher: RunRecord | null
  /** The variables of the services. DATABASE_URL is missing when the data folder has an embedded PostgreSQL. */
  env: Environment
}

/** Reads what the services would read. The variables decide; a data folder adds what `npm start` would add. */
export function readInstallation(given: Environment = process.env): Installation {
  const { dataDir, env, port } = readConfig(given)
  const secrets = readJson(join(dataDir, 'secrets.json'))
  const isFolder = existsSync(dataDir) && (!env.DATABASE_URL || (isRecord(secrets) && !env.ENCRYPTION_KEYS))
  if (!isFolder) return { dataDir: null, launcher: null, env }
  const launcher = readLauncher(dataDir)
  const settings = {
    dataDir,
    databaseUrl: env.DATABASE_URL ?? '',
    port: launcher ? Number(new URL(launcher.url).port) : port,
    operatorPort: launcher?.operatorPort ?? 0,
    secrets: { JWT_SECRET: '', ENCRYPTION_KEYS: '', OPERATOR_PASSWORD: '', ...(isRecord(secrets) ? secrets : {}) },
  }
  return { dataDir, launcher, env: serviceEnvironment(env, settings) }
}

/** Returns the launcher that runs on a data folder; null when none does. */
export function readLauncher(dataDir: string): RunRecord | null {
  const record = readJson(join(dataDir, 'run.json'))
  return isRunRecord(record) && isAlive(record) ? record : null
}

function isRecord(value: unknown): value is Record<string, string> {
  return typeof value === 'object' && value !== null
}
