import type { TestProject } from 'vitest/node'

// Unit tests have no server.
const needsServers = /\.((sql|service|e2e)\.test|long|timing)\.ts$/

/** Prepares all tests but unit tests, which do not wait for the modules of the servers. */
export async function setup(project: TestProject): Promise<(() => Promise<void>) | undefined> {
  const paths = project.vitest.state.getPaths()
  if (!paths.some(path => needsServers.test(path))) return undefined
  const { startServers } = await import('./vitest.servers.ts')
  return startServers(project, paths)
}
