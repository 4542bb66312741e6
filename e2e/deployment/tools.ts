import { spawnSync } from 'node:child_process'

/**
 * Returns whether a program is installed that a test of the deployment files needs. Without it the tests are skipped with a
 * message. In CI, which installs it, that is an error.
 */
export function hasTool(program: string, args: string[]): boolean {
  const problem = findProblem(program, args)
  if (problem && process.env.CI) throw new Error(problem)
  return isFound(problem)
}

/** Like `hasTool` for a program that CI compiles, which needs Go: without it the tests are skipped there too. */
export function hasGoTool(program: string, args: string[]): boolean {
  return isFound(findProblem(program, args))
}

function findProblem(program: string, args: string[]): string | null {
  if (spawnSync(program, args).status === 0) return null
  return `${program} is not installed: what it checks in the deployment files is not tested.`
}

function isFound(problem: string | null): boolean {
  if (problem) console.warn(problem)
  return !problem
}
