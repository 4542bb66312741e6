import { parseTiers } from '@belfry/domain'
import { parsedBy, readConfig, serviceSettings, serviceVariables } from '@belfry/runtime'
import { z } from 'zod'

export type Config = ReturnType<typeof loadConfig>

/** Reads the scheduler's configuration from the environment. */
export function loadConfig(env = process.env) {
  return readConfig(schema, env)
}

export const variables = z.object({
  ...serviceVariables,
  /** The public address of the API, for the links in mails. Default: mails have no links. */
  PUBLIC_URL: z.url({ protocol: /^https?$/, error: 'must be an http(s) URL' }).optional(),
  /** The absolute path of the file that receives all audit entries; `-` is standard output. Default: none. */
  AUDIT_LOG_FILE: z
    .string()
    .regex(/^(-|\/.*[^/])$/, 'must be an absolute path, or - for standard output')
    .optional(),
  /** Tier limits that differ from the defaults, as JSON. */
  TIERS: parsedBy(parseTiers).prefault(''),
})

const schema = variables.transform(env => ({
  ...serviceSettings(env),
  publicUrl: env.PUBLIC_URL === undefined ? null : new URL(env.PUBLIC_URL).origin,
  auditLogFile: env.AUDIT_LOG_FILE ?? null,
  tiers: env.TIERS,
}))
