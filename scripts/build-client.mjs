// Builds @belfry/client. Node has its own two files, which import `crypto`: in Node 18 it is not a global. The helper for MCP
// servers has its own, too.
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { buildLibrary } from './build-library.mjs'
import { generateClients } from './generate-clients.mjs'

const folder = join(import.meta.dirname, '../packages/client')
const fromNode = {
  define: { 'globalThis.crypto': 'nodeCrypto' },
  inject: ['node-crypto.mjs'],
  external: ['node:crypto'],
}
// A page or a worker must not find a key by accident.
const withoutEnvironment = { define: { 'globalThis.process': 'undefined' } }
const forMcp = { entryPoints: ['src/mcp-events-2026-07-28/serve-events.ts'] }

await generateClients(join(folder, '../..'))
rmSync(join(folder, 'dist'), { recursive: true, force: true })
await buildLibrary(folder, [
  { file: 'index.mjs', format: 'esm', ...withoutEnvironment },
  { file: 'node.mjs', format: 'esm', ...fromNode },
  { file: 'index.cjs', format: 'cjs', ...withoutEnvironment },
  { file: 'node.cjs', format: 'cjs', ...fromNode },
  { file: 'mcp.mjs', format: 'esm', ...forMcp },
  { file: 'mcp.cjs', format: 'cjs', ...forMcp },
])
