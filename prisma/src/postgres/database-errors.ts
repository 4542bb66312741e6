/** True for errors that pass when the same statement runs again later: the database is away or busy. */
export function isTransientDatabaseError(error: unknown): boolean {
  return error instanceof Error && (transientCode.test(codeOf(error)) || transientMessage.test(error.message))
}

/** True when a statement gave up waiting for a row that another transaction holds. */
export function isLockTimeout(error: unknown): boolean {
  return codeOf(error) === '55P03'
}

/** True when a statement took longer than it may, or an operator cancelled it. */
export function isStatementTimeout(error: unknown): boolean {
  return codeOf(error) === '57014'
}

/** Returns the SQLSTATE of an error of PostgreSQL, or the code of one of Node or Prisma; empty for other errors. */
export function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : ''
}

// SQLSTATE: 08 connection, 53 out of connections, memory or disk, 57P0 shutdown and start-up, 57014 and 55P03 a timeout
// of ours, 40 deadlock, 25006 a read-only server, e.g. during a failover.
// Node: errors of a socket or a name, and EMFILE or NFILE when no file descriptor is left.
// Prisma: P1 connection, P2024 pool, P2028 and P2034 transaction.
const transientCode =
  /^(08...|53...|57P0.|57014|55P03|40...|25006|E(CONNREFUSED|CONNRESET|PIPE|TIMEDOUT|HOSTUNREACH|NOTFOUND|AI_AGAIN|MFILE|NFILE)|P1...|P2024|P2028|P2034)$/
const transientMessage =
  /timeout exceeded when trying to connect|Connection terminated|Query read timeout|not queryable/i
