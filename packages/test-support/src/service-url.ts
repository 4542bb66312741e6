const password = 'for tests only'

/** The passwords of the roles of the services on the server of the tests. */
export const logins = { api: password, scheduler: password, dispatcher: password }

/** Returns the URL of a test database for the role of a service. The process of all services uses that of the owner. */
export function serviceUrl(databaseUrl: string, service: string): string {
  if (!(service in logins)) return databaseUrl
  return Object.assign(new URL(databaseUrl), { username: `belfry_${service}`, password }).href
}
