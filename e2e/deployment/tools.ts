import { spawnSync } from 'node:child_process'

/**
 * Returns whether a program is installed that a test of the deployment files needs. Without it the tests are skipped with a
 * message. In CI, which installs it, that is an error.
 */
export function hasTool(program: string, args: string[], isEnough: (output: string) => boolean = () => true): boolean {
  const { status, stdout } = spawnSync(program, args, { encoding: 'utf8' })
  if (status === 0 && isEnough(stdout)) return true
  const message = `${program} is not installed, or too old: what it checks in the deployment files is not tested.`
  if (process.env.CI) throw new Error(message)
  console.warn(message)
  return false
}
