import { Command } from 'commander'
import { expect, it } from 'vitest'
import { addBackup } from './command.ts'

it.each(['x', '0', '-1', '1.5', ''])('refuses to keep %j backups before it makes one', async count => {
  const program = new Command().exitOverride().configureOutput({ writeErr: () => {} })
  addBackup(program)
  const parsing = program.parseAsync(['node', 'belfry', 'backup', 'make', `--keep=${count}`])
  await expect(parsing).rejects.toMatchObject({ code: 'commander.invalidArgument' })
})
