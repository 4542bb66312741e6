import { readFileSync } from 'node:fs'

/** The variables that hold secrets. Each can instead be the content of the file that `<NAME>_FILE` names. */
export const secretVariables = [
  'DATABASE_URL',
  'DATABASE_READ_URL',
  'API_DATABASE_URL',
  'SCHEDULER_DATABASE_URL',
  'DISPATCHER_DATABASE_URL',
  'REDIS_URL',
  'JWT_SECRET',
  'JWT_SECRETS',
  'ENCRYPTION_KEYS',
  'OPERATOR_PASSWORD',
  'METRICS_TOKEN',
  'OIDC_CLIENT_SECRET',
  'SMTP_URL',
  'EGRESS_PROXY_URL',
  'STRIPE_SECRET_KEY',
  'STRIPE_WEBHOOK_SECRET',
] as const

type Environment = Record<string, string | undefined>

/**
 * Returns an environment in which the content of each `<NAME>_FILE` is the value of `NAME`, without a byte order mark and the
 * last line end. Docker and Kubernetes mount secrets as files, because `docker inspect` and `/proc` show variables.
 * @returns Also the problems, each starting with its variable, without values.
 */
export function readSecretFiles(env: Environment): { env: Environment; problems: string[] } {
  const resolved = { ...env }
  const problems: string[] = []
  for (const name of secretVariables) {
    const path = env[`${name}_FILE`]
    if (!path) continue
    delete resolved[`${name}_FILE`]
    if (env[name]) problems.push(`${name}_FILE: ${name} is set too; set one of them`)
    else
      try {
        resolved[name] = readSecret(path)
      } catch (error) {
        problems.push(`${name}_FILE: ${describe(error)}`)
      }
  }
  return { env: resolved, problems }
}

function readSecret(path: string): string {
  const text = readFileSync(path, 'utf8').replace(/^\ufeff|\r?\n$/g, '')
  if (text === '') throw new Error('its file is empty')
  return text
}

function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return 'code' in error ? `its file cannot be read (${error.code})` : error.message
}
