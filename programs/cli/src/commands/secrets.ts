import type { Command } from 'commander'
import type { Context } from '../context.ts'
import { given } from '../parse-options.ts'
import { readInput } from '../read-input.ts'

/** Adds `secrets put`. */
export function addSecrets(program: Command, context: () => Context): void {
  program
    .command('secrets')
    .description('store and list secrets, which requests refer to as {{ secrets.NAME }}')
    .command('put')
    .description('create a secret or change its value, which is read from standard input')
    .argument('<name>', 'capital letters, digits and _, such as API_TOKEN')
    .option(
      '--allowed-host <host...>',
      'a host that it may be sent to (default: its present hosts; all for a new secret)',
    )
    .action(async (name: string, { allowedHost: allowedHosts }: { allowedHost?: string[] }) => {
      const ctx = context()
      // `echo`, editors and terminals end a text with a line end.
      const value = (await readInput(ctx, '-')).replace(/\r?\n$/, '')
      const { secrets } = ctx.belfry().workspaces
      const secret = await secrets.put('current', name, { value, ...given({ allowedHosts }) }, { signal: ctx.signal })
      ctx.out.show(secret, `${secret.name}  stored`)
    })
}
