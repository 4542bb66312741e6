import { spawn } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'

export type Ended = { code: number | null; out: string; error: string }

type Program = { file: string; args: readonly string[]; folder: string; env: Readonly<Record<string, string>> }

/** Runs a program until it ends. */
export function runProgram(program: Program): Promise<Ended> {
  return start(program).ended
}

/** Runs a program that does not end by itself, for some seconds. The code is null when it had to be stopped. */
export async function runForAWhile(program: Program, ms = 5000): Promise<Ended> {
  const { stop, ended } = start(program)
  await Promise.race([sleep(ms), ended])
  stop()
  return ended
}

function start({ file, args, folder, env }: Program) {
  const all = { PATH: process.env.PATH, HOME: process.env.HOME, NO_PROXY: '*', NO_COLOR: '1', ...env }
  // In its own process group, so the children of a shell end with it.
  const child = spawn(file, args, { cwd: folder, env: all, stdio: ['ignore', 'pipe', 'pipe'], detached: true })
  const printed = { out: '', error: '' }
  child.stdout.setEncoding('utf8').on('data', text => {
    printed.out += text
  })
  child.stderr.setEncoding('utf8').on('data', text => {
    printed.error += text
  })
  const ended = new Promise<Ended>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', code => resolve({ code, ...printed }))
  })
  const stop = () => {
    if (child.pid && child.exitCode === null) process.kill(-child.pid, 'SIGKILL')
  }
  return { ended, stop }
}
