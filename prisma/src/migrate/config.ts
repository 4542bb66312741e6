/** Reads DATABASE_URL, the address of the database to migrate: `postgresql://user:password@host:5432/name`. */
export function readDatabaseUrl(): string {
  const databaseUrl = process.env.DATABASE_URL
  if (!databaseUrl) throw new Error('DATABASE_URL is not set.')
  if (!/^postgres(ql)?:\/\//.test(databaseUrl) || !URL.canParse(databaseUrl)) {
    throw new Error('DATABASE_URL is not a URL that starts with postgresql://.')
  }
  return databaseUrl
}
