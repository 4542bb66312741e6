import type { Command } from 'commander'
import type { Flags } from '../configuration/actions.ts'
import type { Context } from '../context.ts'

// Only these commands need the schemas of the API and a YAML parser. Both take longer to load than Node.
const load = () => import('../configuration/actions.ts')

export function addConfiguration(program: Command, context: () => Context, fail: () => void): void {
  withFlags(program.command('plan').description('show what the configuration file would change in the workspace'))
    .option('--check', 'exit with 1 when there is something to change, for CI')
    .action(async ({ check, ...flags }: Flags & { check?: boolean }) => {
      const hasChanges = await (await load()).showPlan(context(), flags)
      if (check && hasChanges) fail()
    })
  withFlags(program.command('apply').description('make the workspace agree with the configuration file')).action(
    async (flags: Flags) => (await load()).applyFile(context(), flags),
  )
  program
    .command('export')
    .description('print a configuration file for the objects of the workspace')
    .option('--project <name>', 'the project of the file', 'main')
    .action(async ({ project }: { project: string }) => (await load()).exportFile(context(), project))
  program
    .command('schema')
    .description('print the JSON Schema of the configuration file, for editors')
    .action(async () => (await load()).printSchema(context()))
}

function withFlags(command: Command): Command {
  return command
    .option('-f, --file <file>', 'the configuration file; - for standard input', 'belfry.yaml')
    .option('--env <name>', 'use this environment of the file')
    .option('--var <name=value...>', 'set a variable')
    .option('--prune', 'delete the objects of the project that the file does not have')
    .option('--adopt', 'take over objects without a key that look like those of the file')
}
