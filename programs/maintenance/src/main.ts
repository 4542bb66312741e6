import { PlainError } from '@belfry/launcher'
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
    const text = error instanceof PlainError || !(error instanceof Error) ? error : error.stack
    process.stderr.write(`${error instanceof PlainError ? error.message : text}\n`)
    // The doctor uses 1 for warnings.
    process.exitCode = process.argv[2] === 'doctor' ? 2 : 1
  }
}
