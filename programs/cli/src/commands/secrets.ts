import type { Command } from 'commander'
import type { Context } from '../context.ts'
import { putSecret } from '../generated/fields.ts'
import { bodyOf, type FieldFlags, withFields } from '../options/field-options.ts'
import { readInput } from '../read-input.ts'

export function addSecrets(program: Command, context: () => Context): void {
  const put = program
    .command('secrets')
    .description('store and list secrets, which requests refer to as {{ secrets.NAME }}')
    .command('put')
    .description('create a secret or change its value, which is read from standard input')
    .argument('<name>', 'capital letters, digits and _, such as API_TOKEN')
  withFields(put, putSecret).action(async (name: string, flags: FieldFlags) => {
    const ctx = context()
    // `echo`, editors and terminals end a text with a line end.
    const value = (await readInput(ctx, '-')).replace(/\r?\n$/, '')
    const { secrets } = ctx.belfry().workspaces
    const body = { ...bodyOf(putSecret, flags), value }
    const secret = await secrets.put('current', name, body, { signal: ctx.signal })
    ctx.out.show(secret, `${secret.name}  stored`)
  })
}
