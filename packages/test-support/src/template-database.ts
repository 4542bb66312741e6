import pg from 'pg'

const templateName = 'belfry_template'

/** Creates the template of all test databases. `migrate` receives its URL and must leave no connection open. */
export async function createTemplate(
  serverUrl: string,
  migrate: (databaseUrl: string) => Promise<unknown>,
): Promise<void> {
  await execute(serverUrl, `CREATE DATABASE ${templateName}`)
  await migrate(databaseUrl(serverUrl, templateName))
  // A single connection to a template prevents clones.
  await execute(serverUrl, `ALTER DATABASE ${templateName} WITH ALLOW_CONNECTIONS false`)
}

/** Creates a migrated database on the server, and returns its URL. */
export async function createDatabase(serverUrl: string, name: string, template = templateName): Promise<string> {
  // Copies the files. The default strategy writes each page to the log as well, which takes twice as long.
  await execute(serverUrl, `CREATE DATABASE ${name} TEMPLATE ${template} STRATEGY FILE_COPY`)
  return databaseUrl(serverUrl, name)
}

/** Runs one statement on a new connection. */
export async function execute(url: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    await client.query(statement)
  } finally {
    await client.end()
  }
}

/** Returns the URL of another database on the same server. */
function databaseUrl(serverUrl: string, name: string): string {
  return Object.assign(new URL(serverUrl), { pathname: name }).href
}
