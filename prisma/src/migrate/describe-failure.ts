/** Returns one sentence for an error of the engine, which wraps PostgreSQL's message in a stack of its own functions. */
export function describeFailure(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const [message = ''] = error.message.split(/\n\s+0: /)
  const reason = message.replace('external connector error\n', '').replace('Error querying the database: ERROR: ', '')
  const name = /migration_name="([^"]+)"/.exec(error.message)?.[1]
  return name === undefined ? reason.trim() : `Migration ${name} failed: ${reason.trim()}`
}
