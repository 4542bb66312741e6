import { Command } from 'commander'
import { expect, it } from 'vitest'
import { addBackup } from './command.ts'

it.each(['x', '0', '-1', '1.5', ''])('refuses to keep %j backups before it makes one', async count => {
  await expectRefusal(['backup', 'make', `--keep=${count}`])
})

it.each(['tomorrow', '2026-11-25', '2026-13-01T00:00:00Z'])(
  'refuses to hold until %j before it restores',
  async time => {
    await expectRefusal(['restore', '/nowhere', `--until=${time}`])
  },
)

async function expectRefusal(args: string[]) {
  const program = new Command().exitOverride().configureOutput({ writeErr: () => {} })
  addBackup(program)
  await expect(program.parseAsync(['node', 'belfry', ...args])).rejects.toMatchObject({
    code: 'commander.invalidArgument',
  })
}
