import { type MasterKeys, parseMasterKeys, readSecretFiles } from '@belfry/vault'

/** Reads DATABASE_URL, the address of the database to migrate: `postgresql://user:password@host:5432/name`. */
export function readDatabaseUrl(): string {
  const databaseUrl = read('DATABASE_URL')
  if (!databaseUrl) throw new Error('DATABASE_URL is not set.')
  if (!/^postgres(ql)?:\/\//.test(databaseUrl) || !URL.canParse(databaseUrl)) {
    throw new Error('DATABASE_URL is not a URL that starts with postgresql://.')
  }
  return databaseUrl
}

/** Reads ENCRYPTION_KEYS, the master keys of the services. */
export function readMasterKeys(): MasterKeys {
  const text = read('ENCRYPTION_KEYS')
  if (!text) throw new Error('ENCRYPTION_KEYS is not set.')
  try {
    return parseMasterKeys(text)
  } catch (error) {
    throw new Error(`ENCRYPTION_KEYS ${error instanceof Error ? error.message : error}.`, { cause: error })
  }
}

function read(name: string): string | undefined {
  const { env, problems } = readSecretFiles(process.env)
  const problem = problems.find(one => one.startsWith(`${name}_FILE:`))
  if (problem !== undefined) throw new Error(problem)
  return env[name]
}
