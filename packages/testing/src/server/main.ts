import { rmSync } from 'node:fs'
import { dirname } from 'node:path'
import { serveLeases } from './serve-leases.ts'
import { startServers } from './start-servers.ts'

// A server for tests: `startBelfry` starts it, and it ends by itself when no test has used it for a minute.
const [stateFile = ''] = process.argv.slice(2)
const servers = await startServers(dirname(stateFile))
const leases = await serveLeases(servers, stateFile)
await leases.unused
rmSync(stateFile, { force: true })
await servers.stop()
