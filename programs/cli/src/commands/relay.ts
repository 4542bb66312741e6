import type { Command } from 'commander'
import type { Context } from '../context.ts'
import { readOutboxSql } from '../outbox-file.ts'
import { UsageError } from '../usage-error.ts'

// Only these commands need a driver of PostgreSQL.
const load = () => import('../relay/run-relay.ts')

const database = 'postgresql://user@host/database (default: $OUTBOX_DATABASE_URL)'

const rights = `
The role needs SELECT, UPDATE and DELETE on belfry.outbox and USAGE on its schema, and the API key the scope publish. Any
number of relays may run.`

export function addRelay(program: Command, context: () => Context): void {
  program
    .command('relay')
    .description('send the calls and events of an outbox in your own PostgreSQL, until Ctrl-C')
    .option('--from <url>', `the database with the outbox, ${database}`)
    .addHelpText('after', rights)
    .action(async ({ from }: { from?: string }) => {
      const ctx = context()
      await (await load()).runRelay(ctx, databaseOf(ctx, from))
    })
  program
    .command('outbox')
    .description('install the outbox, for calls in your own transactions')
    .command('install')
    .description('create the schema belfry, or bring it up to date')
    .option('--to <url>', `the database, ${database}`)
    .option('--print', 'print the statements instead of running them')
    .action(async ({ to, print }: { to?: string; print?: boolean }) => {
      const ctx = context()
      const sql = await readOutboxSql()
      if (print) ctx.stdout.write(sql)
      else await (await load()).installOutbox(databaseOf(ctx, to), sql)
    })
}

function databaseOf({ env }: Context, given?: string): string {
  const url = given ?? env.OUTBOX_DATABASE_URL
  if (!url) throw new UsageError('Name the database of the outbox: postgresql://user@host/database.')
  return url
}
