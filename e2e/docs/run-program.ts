import { setTimeout as sleep } from 'node:timers/promises'
import { type ProcessResult, type RunningProcess, startProcess } from '@belfry/test-support/servers'

type Program = { file: string; args: readonly string[]; folder: string; env: Readonly<Record<string, string>> }

/** Runs a program until it ends. */
export function runProgram(program: Program): Promise<ProcessResult> {
  return start(program).result
}

/** Runs a program that does not end by itself, for some seconds. The code is null when it had to be stopped. */
export async function runForAWhile(program: Program, ms = 5000): Promise<ProcessResult> {
  const running = start(program)
  await Promise.race([sleep(ms), running.result])
  void running.stop('SIGKILL')
  return running.result
}

// In its own process group, so the children of a shell end with it.
function start({ file, args, folder, env: more }: Program): RunningProcess {
  const env = { HOME: process.env.HOME, NO_PROXY: '*', NO_COLOR: '1', ...more }
  return startProcess([file, ...args], { cwd: folder, env, hasGroup: true })
}
