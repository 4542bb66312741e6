import { spawnSync } from 'node:child_process'

/**
 * Returns whether a program is installed that a test of the deployment files needs. Without it the tests are skipped with a
 * message. In CI, which installs it, that is an error.
 */
export function hasTool(program: string, args: string[], isEnough: (output: string) => boolean = () => true): boolean {
  const problem = findProblem(program, args, isEnough)
  if (problem && process.env.CI) throw new Error(problem)
  return isFound(problem)
}

/** Like `hasTool` for a program that CI compiles, which needs Go: without it the tests are skipped there too. */
export function hasGoTool(program: string, args: string[]): boolean {
  return isFound(findProblem(program, args, () => true))
}

function findProblem(program: string, args: string[], isEnough: (output: string) => boolean): string | null {
  const { status, stdout } = spawnSync(program, args, { encoding: 'utf8' })
  if (status === 0 && isEnough(stdout)) return null
  return `${program} is not installed, or too old: what it checks in the deployment files is not tested.`
}

function isFound(problem: string | null): boolean {
  if (problem) console.warn(problem)
  return !problem
}
