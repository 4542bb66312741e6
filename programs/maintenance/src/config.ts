import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parseCron } from '@belfry/domain/cron/parse-cron'
import {
  isAlive,
  isRunRecord,
  PlainError,
  type RunRecord,
  readConfig,
  readJson,
  serviceEnvironment,
} from '@belfry/launcher'
import { integer, parsedBy } from '@belfry/runtime'
import { z } from 'zod'

export type Environment = Record<string, string | undefined>

/** The environment of this process, and of the programs that it starts. */
export const environment: Environment = process.env

/** An installation as its operator describes it: by the variables of its services, or by the data folder of `npm start`. */
export type Installation = {
  /** The data folder of `npm start`; null for services that run by themselves. */
  dataDir: string | null
  /** The folder that `npm start` would use, whether it exists or not. */
  wantedDataDir: string
  /** The launcher that runs on the data folder, or null. */
  launcher: RunRecord | null
  /** The variables of the services. DATABASE_URL is missing when the data folder has an embedded PostgreSQL. */
  env: Environment
}

/** Reads what the services would read. The variables decide; a data folder adds what `npm start` would add. */
export function readInstallation(given = environment): Installation {
  const { dataDir, env, port } = readConfig(given)
  const secrets = readJson(join(dataDir, 'secrets.json'))
  const isFolder = existsSync(dataDir) && (!env.DATABASE_URL || (isRecord(secrets) && !env.ENCRYPTION_KEYS))
  if (!isFolder) return { dataDir: null, wantedDataDir: dataDir, launcher: null, env }
  const launcher = readLauncher(dataDir)
  const settings = {
    dataDir,
    databaseUrl: env.DATABASE_URL ?? '',
    roleUrls: {},
    port: launcher ? Number(new URL(launcher.url).port) : port,
    operatorPort: launcher?.operatorPort ?? 0,
    secrets: { JWT_SECRET: '', ENCRYPTION_KEYS: '', OPERATOR_PASSWORD: '', ...(isRecord(secrets) ? secrets : {}) },
  }
  return { dataDir, wantedDataDir: dataDir, launcher, env: serviceEnvironment(env, settings) }
}

/** Returns the launcher that runs on a data folder, or null if it is not running. */
function readLauncher(dataDir: string): RunRecord | null {
  const record = readJson(join(dataDir, 'run.json'))
  return isRunRecord(record) && isAlive(record) ? record : null
}

function isRecord(value: unknown): value is Record<string, string> {
  return typeof value === 'object' && value !== null
}

// DATABASE_URL, REDIS_URL and the like of this environment would reach data that is in use.
const harmless = /^(PATH|HOME|SYSTEMROOT|TEMP|TMP|TMPDIR|TZ|PG[A-Z]+|NODE_[A-Z_]+)$/i

/** Returns the environment of a program that must not use what the services here use. */
export function bareEnvironment(more: Environment): Environment {
  return { ...Object.fromEntries(Object.entries(environment).filter(([name]) => harmless.test(name))), ...more }
}

export const backupVariables = z.object({
  /** When backups are made, as a cron expression in UTC. Default: never by themselves. */
  BACKUP_SCHEDULE: parsedBy(readSchedule).optional(),
  /** Where backups are: a folder, or `s3://bucket/prefix`. Default: `backups` in the data folder. */
  BACKUP_FOLDER: z.string().optional(),
  /** How many backups are kept; older ones are deleted. */
  BACKUP_KEEP: integer(1, 10_000).default(7),
  /** The URL of an S3-compatible server. Default: Amazon's. */
  BACKUP_S3_ENDPOINT: z.url({ protocol: /^https?$/, error: 'must be an http(s) URL' }).optional(),
  /** The region of the bucket. */
  BACKUP_S3_REGION: z.string().default('us-east-1'),
})

export type BackupSettings = ReturnType<typeof readBackupSettings>

/** Reads the settings of backups. The credentials of object storage are in the variables of the AWS SDK. */
export function readBackupSettings({ env, dataDir }: Installation, folder?: string) {
  const given = Object.fromEntries(Object.entries(env).filter(([, value]) => value))
  const result = backupVariables.safeParse(given)
  if (!result.success) {
    throw new PlainError(result.error.issues.map(({ path, message }) => `${path.join('.')} ${message}.`).join('\n'))
  }
  const { BACKUP_SCHEDULE, BACKUP_FOLDER, BACKUP_KEEP, BACKUP_S3_ENDPOINT, BACKUP_S3_REGION } = result.data
  const place = folder ?? BACKUP_FOLDER ?? (dataDir === null ? null : join(dataDir, 'backups'))
  if (place === null) throw new PlainError('BACKUP_FOLDER is not set: a folder, or s3://bucket/prefix.')
  return {
    schedule: BACKUP_SCHEDULE ?? null,
    folder: place.startsWith('s3://') ? place : resolve(place),
    keep: BACKUP_KEEP,
    s3: { endpoint: BACKUP_S3_ENDPOINT ?? null, region: BACKUP_S3_REGION },
  }
}

function readSchedule(text: string) {
  const parsed = parseCron(text)
  if (!parsed.ok) throw new Error(`is not a cron expression of five fields, such as 0 3 * * *: ${parsed.message}`)
  return { cron: parsed.cron, timezone: 'UTC', startsAt: null, endsAt: null }
}
