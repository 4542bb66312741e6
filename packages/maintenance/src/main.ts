import { PlainError } from '@belfry/launcher'
import { Command, CommanderError } from 'commander'
import { addDoctor } from './doctor/command.ts'

const program = new Command('belfry').exitOverride()
addDoctor(program)
try {
  await program.parseAsync(process.argv)
} catch (error) {
  if (error instanceof CommanderError) process.exitCode = error.exitCode === 0 ? 0 : 2
  else {
    const text = error instanceof PlainError || !(error instanceof Error) ? error : error.stack
    process.stderr.write(`${error instanceof PlainError ? error.message : text}\n`)
    process.exitCode = 2
  }
}
