import { version } from '@belfry/domain/version'
import { Command } from 'commander'
import { addCompletion } from './commands/completion.ts'
import { addConfiguration } from './commands/configuration.ts'
import { addCron } from './commands/cron.ts'
import { addEndings } from './commands/end-tasks.ts'
import { addHosts } from './commands/hosts.ts'
import { addImport } from './commands/import.ts'
import { addList } from './commands/list.ts'
import { addListen } from './commands/listen.ts'
import { addMaintenance } from './commands/maintenance.ts'
import { addMcp } from './commands/mcp.ts'
import { addPublish } from './commands/publish.ts'
import { addQueues } from './commands/queues.ts'
import { addRelay } from './commands/relay.ts'
import { addReplay } from './commands/replay.ts'
import { addSchedule } from './commands/schedule.ts'
import { addSecrets } from './commands/secrets.ts'
import { addShow, addStatus, addWhoami } from './commands/show.ts'
import { addTail } from './commands/tail.ts'
import { addToken } from './commands/token.ts'
import { type Context, createContext, type GlobalOptions, type Io } from './context.ts'

/** Returns all commands with their options and help. `fail` marks a failure; default: 1. */
export function createProgram(io: Io, fail: (code?: 1 | 2) => void): Command {
  const program = new Command('belfry')
    .description('Belfry calls your URLs: at a time, on a cron schedule, or now.')
    .version(version)
    .option('--api-key <key>', 'the key of a workspace (default: $BELFRY_API_KEY)')
    .option('--token <token>', 'a session token instead of a key (default: $BELFRY_TOKEN)')
    .option('--workspace <id>', 'with a session token: the workspace (default: $BELFRY_WORKSPACE)')
    .option('--url <url>', 'where Belfry answers (default: $BELFRY_URL, else http://localhost:3000)')
    .option('--json', 'print JSON, one object per line')
    .showHelpAfterError('(use --help for more)')
    .configureHelp({ showGlobalOptions: true })
    .exitOverride()
    .configureOutput({
      writeOut: text => void io.stdout.write(text),
      writeErr: text => void io.stderr.write(text),
    })
    .addHelpText('after', '\nExit codes: 0 success, 1 refused, failed or interrupted, 2 usage error.')
  const context = (): Context => createContext(io, program.opts<GlobalOptions>())
  addSchedule(program, context)
  addPublish(program, context)
  addCron(program, context)
  addShow(program, context)
  addEndings(program, context)
  addReplay(program, context)
  addTail(program, context)
  addHosts(program, context)
  addQueues(program, context)
  addSecrets(program, context)
  addList(program, context) // after the commands that it extends
  addStatus(program, context, fail)
  addWhoami(program, context)
  addListen(program, context)
  addImport(program, context, fail)
  addConfiguration(program, context, fail)
  addMcp(program, context)
  addRelay(program, context)
  addToken(program, context)
  addMaintenance(program, io, fail)
  addCompletion(program, io)
  return program
}
