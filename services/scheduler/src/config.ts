import { fromId } from '@belfry/domain/id'
import { parseTiers } from '@belfry/domain/tiers'
import { parseStorageUrl } from '@belfry/object-storage'
import { entriesOf, integer, parsedBy, publicUrl, readConfig, serviceSettings, serviceVariables } from '@belfry/runtime'
import { z } from 'zod'

export type Config = ReturnType<typeof loadConfig>

/** Reads the scheduler's configuration from the environment. */
export function loadConfig(env = process.env) {
  return readConfig(schema, env)
}

export const variables = z.object({
  ...serviceVariables,
  /** The public address of the API, for the links in mails. Default: mails have no links. */
  PUBLIC_URL: publicUrl.optional(),
  /** The absolute path of the file that receives all audit entries; `-` is standard output. Optional. */
  AUDIT_LOG_FILE: z
    .string()
    .regex(/^(-|\/.*[^/])$/, 'must be an absolute path, or - for standard output')
    .optional(),
  /** Tier limits that differ from the defaults, as JSON. */
  TIERS: parsedBy(parseTiers).prefault(''),
  /** Where old runs move: `s3://bucket/prefix?endpoint=...&region=...`. Default: they stay in PostgreSQL. */
  LOG_STORAGE_URL: parsedBy(parseStorageUrl).optional(),
  /** The credentials for it. The AWS SDK reads them. Default: what else the SDK finds, such as a role of the machine. */
  AWS_ACCESS_KEY_ID: z.string().optional(),
  AWS_SECRET_ACCESS_KEY: z.string().optional(),
  /** For how many full days runs stay in PostgreSQL. */
  LOG_HOT_DAYS: integer(1, 3_650).default(30),
  /** The ids of organizations whose logs are exempt from retention, comma-separated. Optional. */
  LEGAL_HOLD: parsedBy(parseOrganizations).prefault(''),
})

const schema = variables.transform(env => ({
  ...serviceSettings(env),
  publicUrl: env.PUBLIC_URL ?? null,
  auditLogFile: env.AUDIT_LOG_FILE ?? null,
  tiers: env.TIERS,
  logStorage: env.LOG_STORAGE_URL === undefined ? null : { place: env.LOG_STORAGE_URL, hotDays: env.LOG_HOT_DAYS },
  legalHold: env.LEGAL_HOLD,
}))

function parseOrganizations(text: string): string[] {
  return entriesOf(text).map(id => {
    const organizationId = fromId('org', id)
    if (organizationId === null) throw new Error(`must be ids of organizations: ${id} is none`)
    return organizationId
  })
}
