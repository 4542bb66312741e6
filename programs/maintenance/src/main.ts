import { PlainError, reasonOf } from '@belfry/launcher'
import { Command, CommanderError } from 'commander'
import { addBackup } from './backup/command.ts'
import { addBench } from './bench/command.ts'
import { addFloor } from './bench/floor.ts'
import { addDoctor } from './doctor/command.ts'
import { addLog } from './log/command.ts'
import { addReleaseHeld } from './restore/release-held.ts'

const program = new Command('belfry').exitOverride()
addDoctor(program)
addBackup(program)
addLog(program)
addReleaseHeld(program)
addBench(program)
addFloor(program)
try {
  await program.parseAsync(process.argv)
} catch (error) {
  if (error instanceof CommanderError) process.exitCode = error.exitCode === 0 ? 0 : 2
  else {
    const cause = firstOf(error)
    const text = cause instanceof Error && !(cause instanceof PlainError) ? cause.stack : reasonOf(cause)
    process.stderr.write(`${text}\n`)
    // The doctor uses 1 for warnings.
    process.exitCode = process.argv[2] === 'doctor' ? 2 : 1
  }
}

// The end of a scope may fail for the same reason as what ran in it.
function firstOf(error: unknown): unknown {
  return error instanceof Error && 'suppressed' in error ? firstOf(error.suppressed) : error
}
