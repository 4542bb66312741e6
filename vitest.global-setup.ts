import type { TestProject } from 'vitest/node'

// They have no server. All other files need some, also those that take the pictures of the pages.
const isUnitTest = /(?<!\.(sql|service|e2e))\.test\.tsx?$/

/** Prepares all tests but unit tests, which do not wait for the modules of the servers. */
export async function setup(project: TestProject): Promise<(() => Promise<void>) | undefined> {
  const paths = project.vitest.state.getPaths()
  if (paths.every(path => isUnitTest.test(path))) return undefined
  const { startServers } = await import('./vitest.servers.ts')
  return startServers(project, paths)
}
